# SPDX-License-Identifier: Apache-2.0
"""What tools/tally-top is made of."""
