# SPDX-License-Identifier: Apache-2.0
"""What tools/perf-vms is made of."""
