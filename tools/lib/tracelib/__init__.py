# SPDX-License-Identifier: Apache-2.0
"""What tools/tally-trace consists of."""
