# SPDX-License-Identifier: Apache-2.0
"""Messages between applications, beside the pool: bytes and tensors over TCP."""
