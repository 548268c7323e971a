# SPDX-License-Identifier: Apache-2.0
"""Objects of many members, stored as many values. Knows the public methods of a store, and nothing of pools."""
