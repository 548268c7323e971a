# SPDX-License-Identifier: Apache-2.0
"""Faults on the real processes of a pool, a load built to break it, and a judge of what the load saw."""
