# SPDX-License-Identifier: Apache-2.0
"""The HTTP endpoints and the command."""
