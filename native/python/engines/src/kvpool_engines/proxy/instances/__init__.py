# SPDX-License-Identifier: Apache-2.0
"""Which engines there are, which of them are well, how much each has to do, and where they come from."""
