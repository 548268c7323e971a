# SPDX-License-Identifier: Apache-2.0
"""Registered memory that a transfer engine gives to its application."""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import threading

from kvpool import KvpoolError, TransferEngine


class ManagedBuffers:
    """Each buffer is a mapping and a region of its own, so that what is given back is gone for peers too."""

    def __init__(self, engine: TransferEngine) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._buffers: dict[int, ctypes.Array[ctypes.c_char]] = {}

    def allocate(self, length: int) -> int:
        """The address of zeroed memory. ValueError for no length, OSError or KvpoolError when it cannot be had."""
        if length <= 0:
            raise ValueError(f"a buffer of {length} bytes")
        mapping = mmap.mmap(-1, length)
        memory = (ctypes.c_char * length).from_buffer(mapping)  # keeps the mapping
        address = ctypes.addressof(memory)
        self._engine.register([address], [length])
        with self._lock:
            self._buffers[address] = memory
        return address

    def free(self, address: int) -> bool:
        """False when it is none of ours."""
        with self._lock:
            memory = self._buffers.pop(address, None)
        if memory is None:
            return False
        with contextlib.suppress(KvpoolError):  # taken back by unregister_memory() before
            self._engine.unregister([address])
        return True
