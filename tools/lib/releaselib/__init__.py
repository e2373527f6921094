# SPDX-License-Identifier: Apache-2.0
"""What `make install`, `make release` and `make operator-tools` share."""
