# SPDX-License-Identifier: Apache-2.0
"""Stands where pip looks for setuptools while it downloads: see build_meta."""
