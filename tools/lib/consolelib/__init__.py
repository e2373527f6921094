# SPDX-License-Identifier: Apache-2.0
"""What tools/tally-console is made of."""
