# SPDX-License-Identifier: Apache-2.0
"""`mooncake_master` and `mooncake_client` over kvpool: command lines of the reference start a kvpool pool.

`command_line` and the two tables are pure; `master` and `client` start processes.
"""
