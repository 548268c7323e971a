# SPDX-License-Identifier: Apache-2.0
"""Values that come in several parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


def joined(parts: Sequence[Buffer]) -> bytes:
    """The parts, one after the other. RuntimeError for what is not one-dimensional bytes, as in the reference."""
    for number, part in enumerate(parts):
        view = memoryview(part)
        if view.ndim != 1 or view.itemsize != 1:
            raise RuntimeError(
                f"part {number} has {view.ndim} dimensions and items of {view.itemsize} bytes, but must be plain bytes"
            )
    return b"".join(bytes(part) for part in parts)
