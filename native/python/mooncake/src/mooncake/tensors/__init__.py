# SPDX-License-Identifier: Apache-2.0
"""Tensors as values and as files. Knows neither pool nor torch."""
