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
Move = tuple[int, int, int]  # to, from, bytes


class RegisteredCopies:
    """All copies of a call, or none when one of them leaves registered memory. Those to and from memory of a device makes
    `by_device`, as kvpool.Client.copy_memory() does; without it that memory is none."""

    def __init__(
        self, *registered: RegisteredRanges, by_device: Callable[[Sequence[Move]], None] | None = None
    ) -> None:
        self._registered = registered
        self._by_device = by_device

    def to_application(self, copies: Sequence[Copy]) -> bool:
        """Raises what `by_device` does."""
        return self._run((theirs, (theirs, ours, size)) for theirs, ours, size in copies)

    def from_application(self, copies: Sequence[Copy]) -> bool:
        """Raises what `by_device` does; then no byte here was changed."""
        return self._run((theirs, (ours, theirs, size)) for theirs, ours, size in copies)

    def is_of_device(self, address: int) -> bool:
        """Whether it is registered memory that this process cannot touch."""
        for ranges in self._registered:
            with ranges.lock:
                if ranges.is_of_device(address):
                    return True
        return False

    def _run(self, copies: Iterable[tuple[int, Move]]) -> bool:
        of_host: list[Move] = []
        of_device: list[Move] = []
        with ExitStack() as held:
            for ranges in self._registered:
                held.enter_context(ranges.lock)
            for theirs, move in copies:
                size = move[2]
                if any(ranges.covers(theirs, size) for ranges in self._registered):
                    of_host.append(move)
                elif self._by_device and any(ranges.covers(theirs, size, True) for ranges in self._registered):
                    of_device.append(move)
                else:
                    return False
            if self._by_device and of_device:
                self._by_device(of_device)
            for move in of_host:
                _memmove(*move)
        return True
