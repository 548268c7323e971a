# SPDX-License-Identifier: Apache-2.0
"""The REST service of the store, as the reference has it: routes of `mooncake.mooncake_store_service`. Needs aiohttp."""
