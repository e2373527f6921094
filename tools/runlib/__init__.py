# SPDX-License-Identifier: Apache-2.0
"""What tools/run is made of."""
