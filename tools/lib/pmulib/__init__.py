# SPDX-License-Identifier: Apache-2.0
"""Event tables of cores (dts/pmu/README.md), and what tools/pmu-events makes of them."""
