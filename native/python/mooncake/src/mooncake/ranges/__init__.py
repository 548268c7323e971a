# SPDX-License-Identifier: Apache-2.0
"""Parts of values: planned, read, and put together in sessions."""
