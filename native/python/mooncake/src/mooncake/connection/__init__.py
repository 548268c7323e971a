# SPDX-License-Identifier: Apache-2.0
"""What a store is set up with: a client of the pool, and memory for it."""
