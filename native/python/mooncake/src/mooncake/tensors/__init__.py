# SPDX-License-Identifier: Apache-2.0
"""Tensors as values, in parts and as files. Knows nothing of torch."""
