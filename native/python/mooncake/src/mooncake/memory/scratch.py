# SPDX-License-Identifier: Apache-2.0
"""Registered memory for the time of a call."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from mooncake.memory.pages import zeroed_pages

_KEPT_BYTES = 64 << 20  # of one piece, between calls


class Registry(Protocol):
    """Where memory is registered."""

    def register(self, address: int, length: int) -> None: ...

    def unregister(self, address: int) -> None: ...


class Scratch:
    """Memory lent for the time of one call. One piece is kept, so that not every call makes new pages."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._lock = threading.Lock()
        self._kept: ctypes.Array[ctypes.c_char] | None = None

    @contextmanager
    def borrow(self, size: int) -> Iterator[int]:
        """The address of `size` registered bytes; 0 for no bytes. OSError or KvpoolError when there is no memory."""
        if size == 0:
            yield 0
            return
        piece = self._take(size)
        try:
            yield ctypes.addressof(piece)
        finally:
            self._give_back(piece)

    def _take(self, size: int) -> ctypes.Array[ctypes.c_char]:
        with self._lock:
            piece, self._kept = self._kept, None
        if piece is not None and len(piece) >= size:
            return piece
        if piece is not None:
            self._registry.unregister(ctypes.addressof(piece))
        piece = zeroed_pages(size)
        self._registry.register(ctypes.addressof(piece), size)
        return piece

    def _give_back(self, piece: ctypes.Array[ctypes.c_char]) -> None:
        with self._lock:
            if self._kept is None and len(piece) <= _KEPT_BYTES:
                self._kept = piece
                return
        self._registry.unregister(ctypes.addressof(piece))
