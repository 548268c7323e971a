# SPDX-License-Identifier: Apache-2.0
"""Memory that has an address and may not be touched, as that of an accelerator."""

import ctypes
import mmap


class Unreadable:
    """A mapping without access, until make_readable()."""

    def __init__(self, size: int) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long)
        self._libc.mprotect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        self._libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        self.size = size
        self.address = self._libc.mmap(None, size, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)

    def make_readable(self) -> None:
        assert self._libc.mprotect(self.address, self.size, mmap.PROT_READ | mmap.PROT_WRITE) == 0

    def __enter__(self) -> "Unreadable":
        return self

    def __exit__(self, *_: object) -> None:
        self._libc.munmap(self.address, self.size)
