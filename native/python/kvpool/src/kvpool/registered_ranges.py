# SPDX-License-Identifier: Apache-2.0
"""Which memory an application has registered, for what is copied in Python: the library knows it for itself."""

from __future__ import annotations

import ctypes
import errno
import os
import threading
from bisect import bisect_right, insort


class RegisteredRanges:
    """Ranges of addresses that do not overlap. A copy to or from them is made under `lock`, so that a range
    is not in use any more when remove() returns. Memory of a device that this process cannot touch may be among them: the
    library copies there."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._begins: list[int] = []
        self._lengths: dict[int, int] = {}
        self._of_devices: set[int] = set()  # begins

    def add(self, address: int, length: int) -> None:
        is_of_device = not (_can_touch(address) and _can_touch(address + length - 1))
        with self.lock:
            if is_of_device:
                self._of_devices.add(address)
            if address not in self._lengths:
                insort(self._begins, address)
            self._lengths[address] = length

    def remove(self, address: int) -> None:
        """Nothing happens when no range begins there."""
        with self.lock:
            if self._lengths.pop(address, None) is not None:
                self._begins.remove(address)
                self._of_devices.discard(address)

    def clear(self) -> None:
        with self.lock:
            self._begins.clear()
            self._lengths.clear()
            self._of_devices.clear()

    def covers(self, address: int, length: int, of_device: bool = False) -> bool:
        """Whether the bytes lie in one range, of a device or else not of one. Zero bytes need none."""
        if length == 0:
            return True
        begin = self._begin_before(address)
        if begin is None or (begin in self._of_devices) != of_device:
            return False
        return address + length <= begin + self._lengths[begin]

    def is_of_device(self, address: int) -> bool:
        """Whether it lies in a range that this process cannot touch."""
        begin = self._begin_before(address)
        return begin in self._of_devices and address < begin + self._lengths[begin]

    def _begin_before(self, address: int) -> int | None:
        at = bisect_right(self._begins, address)
        return self._begins[at - 1] if at else None


def _can_touch(address: int) -> bool:
    """The kernel looks at the memory in the place of this process, which would end. True where it cannot be told."""
    try:
        receiver, sender = os.pipe()
    except OSError:
        return True
    try:
        os.write(sender, ctypes.c_char.from_address(address))
    except OSError as problem:
        return problem.errno != errno.EFAULT
    finally:
        os.close(receiver)
        os.close(sender)
    return True
