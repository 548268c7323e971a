# SPDX-License-Identifier: Apache-2.0
"""Copies between memory that the application registered and values that are held here."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack

from kvpool.registered_ranges import RegisteredRanges

# As a function of a CDLL it lets other Python threads run meanwhile, which ctypes.memmove does not.
_memmove = ctypes.CDLL(None).memmove
_memmove.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
_memmove.restype = ctypes.c_void_p

Copy = tuple[int, int, int]  # address of the application's, address here, bytes


class RegisteredCopies:
    """All copies of a call, or none when one of them leaves registered memory, or goes to that of a device."""

    def __init__(self, *registered: RegisteredRanges) -> None:
        self._registered = registered

    def to_application(self, copies: Sequence[Copy]) -> bool:
        return self._run(copies, lambda theirs, ours, size: _memmove(theirs, ours, size))

    def from_application(self, copies: Sequence[Copy]) -> bool:
        return self._run(copies, lambda theirs, ours, size: _memmove(ours, theirs, size))

    def is_of_device(self, address: int) -> bool:
        """Whether it is registered memory that this process cannot touch."""
        for ranges in self._registered:
            with ranges.lock:
                if ranges.is_of_device(address):
                    return True
        return False

    def _run(self, copies: Iterable[Copy], copy: Callable[[int, int, int], object]) -> bool:
        with ExitStack() as held:
            for ranges in self._registered:
                held.enter_context(ranges.lock)
            for theirs, _, size in copies:
                if not any(ranges.covers(theirs, size) for ranges in self._registered):
                    return False
            for one in copies:
                copy(*one)
        return True
