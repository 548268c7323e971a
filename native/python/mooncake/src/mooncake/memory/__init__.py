# SPDX-License-Identifier: Apache-2.0
"""Memory that is allocated, lent and copied. Knows nothing of keys and values."""
