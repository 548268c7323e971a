# SPDX-License-Identifier: Apache-2.0
"""The memory that setup_dummy() gives to its engine piece by piece."""

from __future__ import annotations

import ctypes
import threading

from mooncake.memory.pages import zeroed_pages

_ALIGNMENT = 4096


class MemPool:
    """Zeroed memory of this process, from which pieces are taken and never given back before all of it is."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._taken = 0
        self._lock = threading.Lock()
        # Pages are made when they are touched, so a large pool costs nothing before it is used.
        self._memory = zeroed_pages(size) if size > 0 else None

    @property
    def left(self) -> int:
        return self._size - self._taken

    def take(self, size: int) -> int:
        """The address of `size` bytes at a multiple of 4096, or 0 when there are not as many left."""
        rounded = -(-size // _ALIGNMENT) * _ALIGNMENT
        with self._lock:
            if size <= 0 or self._memory is None or size > self.left:
                return 0
            at = self._taken
            self._taken = min(at + rounded, self._size)
        return ctypes.addressof(self._memory) + at
