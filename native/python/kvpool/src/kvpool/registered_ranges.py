# SPDX-License-Identifier: Apache-2.0
"""Which memory an application has registered, for what is copied in Python: the library knows it for itself."""

from __future__ import annotations

import threading
from bisect import bisect_right, insort


class RegisteredRanges:
    """Ranges of addresses that do not overlap. A copy to or from them is made under `lock`, so that a range
    is not in use any more when remove() returns."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._begins: list[int] = []
        self._lengths: dict[int, int] = {}

    def add(self, address: int, length: int) -> None:
        with self.lock:
            if address not in self._lengths:
                insort(self._begins, address)
            self._lengths[address] = length

    def remove(self, address: int) -> None:
        """Nothing happens when no range begins there."""
        with self.lock:
            if self._lengths.pop(address, None) is not None:
                self._begins.remove(address)

    def clear(self) -> None:
        with self.lock:
            self._begins.clear()
            self._lengths.clear()

    def covers(self, address: int, length: int) -> bool:
        """Whether the bytes lie in one range. Zero bytes need none."""
        if length == 0:
            return True
        at = bisect_right(self._begins, address)
        if at == 0:
            return False
        begin = self._begins[at - 1]
        return address + length <= begin + self._lengths[begin]
