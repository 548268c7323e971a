# SPDX-License-Identifier: Apache-2.0
"""What get_buffer() answers with: a value in memory of its own."""

from __future__ import annotations

from array import array
from typing import Any, NoReturn


class BufferHandle(array):
    """A copy of a value, good for as long as the handle or a memoryview of it is, also after close().

    It looks as Mooncake's does (pybind's `BufferHandle` in its store_py.cpp, tried with 0.3.13.post1): ptr(), size(), len(),
    and a buffer of one dimension, format "b", that may be written; handles are equal only to themselves. Its size is fixed.

    An array, because no class written in Python may offer a buffer before Python 3.12, and this is a base that has one of
    that format.
    """

    __slots__ = ()

    def __new__(cls, value: bytes) -> BufferHandle:
        return super().__new__(cls, "b", value)  # type: ignore[return-value]  # of the class that was asked for

    def ptr(self) -> int:
        """The address of the first byte; 0 when there is none."""
        return self.buffer_info()[0] if self else 0

    def size(self) -> int:
        """Bytes of the value."""
        return len(self)

    __eq__ = object.__eq__
    __ne__ = object.__ne__
    __hash__ = object.__hash__  # type: ignore[assignment]  # an array has none

    def __repr__(self) -> str:
        return f"<mooncake.store.BufferHandle of {len(self)} bytes>"

    def _fixed(self, *_: Any) -> NoReturn:
        raise TypeError("a BufferHandle is changed through a memoryview of it, and keeps its size")

    # What could move the memory that ptr() has named.
    append = extend = insert = pop = remove = _fixed
    fromfile = frombytes = fromlist = fromunicode = _fixed
    __iadd__ = __imul__ = __setitem__ = __delitem__ = _fixed
