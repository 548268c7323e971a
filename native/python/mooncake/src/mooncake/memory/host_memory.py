# SPDX-License-Identifier: Apache-2.0
"""Memory for engines that have a store give them theirs."""

from __future__ import annotations

import ctypes
import logging
import threading

from mooncake.memory.pages import zeroed_pages

_logger = logging.getLogger("mooncake.store")
_libc = ctypes.CDLL(None)


class MooncakeHostMemAllocator:
    """Zeroed memory at whole pages, which child processes share; pages are made when they are touched."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pieces: dict[int, ctypes.Array[ctypes.c_char]] = {}

    def alloc(self, size: int) -> int:
        """The address of `size` bytes, good until free(); 0 when there is no memory (the log says why)."""
        try:
            piece = zeroed_pages(size)
        except (OSError, ValueError, OverflowError) as problem:
            _logger.error("MooncakeHostMemAllocator.alloc: %s bytes: %s", size, problem)
            return 0
        address = ctypes.addressof(piece)
        with self._lock:
            self._pieces[address] = piece
        return address

    def free(self, ptr: int) -> int:
        """0, or -1: it is none of this allocator's, or was freed before."""
        with self._lock:
            return -1 if self._pieces.pop(ptr, None) is None else 0


def get_alloc_func_addr() -> int:
    """The address of a C function `void *f(size_t)` that allocates memory at whole pages."""
    return ctypes.cast(_libc.valloc, ctypes.c_void_p).value or 0


def get_free_func_addr() -> int:
    """The address of a C function `void f(void *)` that frees what the other one allocated."""
    return ctypes.cast(_libc.free, ctypes.c_void_p).value or 0
