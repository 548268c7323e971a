# SPDX-License-Identifier: Apache-2.0
"""The package name that inference engines import, provided by kvpool: see mooncake.store."""

__version__ = "0.1.0"
