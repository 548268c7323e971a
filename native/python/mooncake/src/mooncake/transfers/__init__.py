# SPDX-License-Identifier: Apache-2.0
"""What mooncake.engine is made of beside its engine."""
