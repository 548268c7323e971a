# SPDX-License-Identifier: Apache-2.0
"""Whether this process can read memory: it cannot read that of an accelerator, and trying ends it."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterable, Sequence

Range = tuple[int, int]  # address and length

_SAMPLES = 16  # of a range, which is of one kind

# The kernel looks at the memory in the place of this process, and answers EFAULT where that would end.
_write = ctypes.CDLL(None, use_errno=True).write
_write.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
_write.restype = ctypes.c_ssize_t


class NoHostMemory(ValueError):
    """Says which memory cannot be used, and why."""

    def __init__(self, address: int, length: int) -> None:
        super().__init__(
            f"the {length} bytes at 0x{address:x} are no memory that this process can read: kvpool moves memory of the "
            "host, not that of an accelerator"
        )


def unreadable(ranges: Iterable[Range]) -> list[Range]:
    """Those of which a part cannot be read. What is no range at all is for others to refuse."""
    try:
        receiver, sender = os.pipe()
    except OSError:
        return []  # without descriptors it cannot be told
    try:
        return [
            one
            for one in ranges
            if one[0] > 0 and 0 < one[1] <= (1 << 64) - one[0] and not _is_readable(receiver, sender, *one)
        ]
    finally:
        os.close(receiver)
        os.close(sender)


def overlaps(one: Range, others: Sequence[Range]) -> bool:
    return any(one[0] < begin + length and begin < one[0] + one[1] for begin, length in others)


def _is_readable(receiver: int, sender: int, address: int, length: int) -> bool:
    samples = range(address, address + length, max(length // _SAMPLES, 1))
    for at in (*samples, address + length - 1):
        if _write(sender, at, 1) == 1:
            os.read(receiver, 1)
        elif ctypes.get_errno() == errno.EFAULT:
            return False
    return True
