# SPDX-License-Identifier: Apache-2.0
"""mooncake.buffer_pool: registered memory that is used again and again, for get_into() and put_from()."""

from __future__ import annotations

import ctypes
import functools
import mmap
import threading
import time
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mooncake.store import MooncakeDistributedStore

__all__ = [
    "BufferLease",
    "BufferLeaseView",
    "BufferPool",
    "RegisteredBufferLease",
    "RegisteredBufferLeaseView",
    "RegisteredBufferPool",
]

_Region = ctypes.Array  # of c_char, over a mapping that lives as long


class BufferLeaseView:
    """What is below the views of a lease: their `obj`, which keeps the lease."""

    lease: BufferLease

    @property
    def buffer(self) -> memoryview:
        """A view of the memory."""
        return memoryview(self).cast("B")  # type: ignore[arg-type]  # it is an array


class BufferLease:
    """Memory of a BufferPool, until release(), the end of a `with`, or until the lease and all views of it are gone."""

    def __init__(self, region: _Region, size: int, give_back: Callable[[_Region], None]) -> None:
        self._region: _Region | None = region
        self._size = size
        self._give_back = give_back
        self._views: list[weakref.ref[_Region]] = []

    @property
    def ptr(self) -> int:
        """The address of the first byte. RuntimeError after release()."""
        return ctypes.addressof(self._open())

    @property
    def size(self) -> int:
        """Bytes, as they were asked for."""
        return self._size

    @property
    def buffer(self) -> memoryview:
        """A view of the memory that may be written to. RuntimeError after release()."""
        # Each view has an object of its own below it, which is gone as soon as the view and all slices of it are.
        below = _view_class(self._size).from_address(ctypes.addressof(self._open()))
        below.lease = self  # a view keeps the memory from being lent again
        self._views = [view for view in self._views if view() is not None]
        self._views.append(weakref.ref(below))
        return below.buffer

    def release(self) -> None:
        """Gives the memory back; nothing happens the second time. RuntimeError while there are views of it."""
        if self._region is None:
            return
        if any(view() is not None for view in self._views):
            raise RuntimeError("a buffer cannot be given back while there are views of it")
        region, self._region = self._region, None
        self._give_back(region)

    def __enter__(self) -> BufferLease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def __del__(self) -> None:
        region, self._region = getattr(self, "_region", None), None
        if region is not None:
            self._give_back(region)

    def _open(self) -> _Region:
        if self._region is None:
            raise RuntimeError("the buffer was given back")
        return self._region


class BufferPool:
    """Memory that is registered with a store once and lent many times, for any number of threads.

    What is asked for is rounded up: to min_size_class, to a power of two up to `alignment`, to a multiple of `alignment`
    beyond. What is larger than max_size_class is not kept when it is given back.

    Args:
        store: a store that is set up, and is closed after this pool.
        max_bytes: bound of all memory; 0 for the local_buffer_size of the store.
        block_on_exhaustion: whether acquire() waits at the bound, for `default_timeout` seconds or without end.
        max_regions: bound of the number of pieces.
        prewarm_size, prewarm_count: pieces to make at once.

    Raises:
        RuntimeError: the store is not set up, a size is wrong, or the memory for prewarming cannot be had.
    """

    def __init__(
        self,
        store: MooncakeDistributedStore,
        max_bytes: int = 0,
        min_size_class: int = 64 * 1024,
        max_size_class: int | None = None,
        alignment: int = 8 * 1024 * 1024,
        block_on_exhaustion: bool = True,
        default_timeout: float | None = None,
        max_regions: int | None = None,
        prewarm_size: int | None = None,
        prewarm_count: int = 0,
    ) -> None:
        if store is None or store.health_check() == 1:
            raise RuntimeError("the store is not set up")
        self._max_bytes = max_bytes or store._local_buffer_bytes
        if self._max_bytes <= 0 or min_size_class <= 0:
            raise RuntimeError("max_bytes, or the local_buffer_size of the store, and min_size_class must be positive")
        if alignment < mmap.PAGESIZE or alignment & (alignment - 1):
            raise RuntimeError(f"alignment is {alignment}, but must be a power of two and {mmap.PAGESIZE} at least")
        self._store = store
        self._min_class = min_size_class
        self._max_class = min(max_size_class or self._max_bytes, self._max_bytes)
        self._alignment = alignment
        self._blocks = block_on_exhaustion
        self._timeout = default_timeout
        self._max_regions = max_regions
        self._changed = threading.Condition(threading.RLock())  # a lease may be collected while its pool is locked
        self._free: dict[int, list[_Region]] = {}
        self._bytes = self._regions = self._lent = 0
        self._closed = False
        if prewarm_size is not None and prewarm_count > 0:
            self.prewarm(prewarm_size, prewarm_count)

    def acquire(self, size: int, block: bool | None = None, timeout: float | None = None) -> BufferLease:
        """Memory of `size` bytes. RuntimeError when it is more than max_bytes, the pool is closed, there is none and the call
        does not wait, or its time is over."""
        if size < 0:
            raise RuntimeError(f"a buffer of {size} bytes")
        wanted = self._class_of(size)
        if wanted > self._max_bytes:
            raise RuntimeError(f"{wanted} bytes are more than the {self._max_bytes} of the pool")
        blocks = self._blocks if block is None else block
        patience = self._timeout if timeout is None else timeout
        if patience is not None and patience < 0:
            raise RuntimeError(f"timeout is {patience}, but must be 0 or more")
        deadline = None if patience is None else time.monotonic() + patience
        with self._changed:
            while True:
                region = self._take(wanted)
                if region is not None:
                    self._lent += 1
                    return BufferLease(region, size, self._give_back)
                if not blocks:
                    raise RuntimeError(f"the pool is exhausted: {self._bytes} of {self._max_bytes} bytes are lent")
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise RuntimeError(f"no buffer of {wanted} bytes was given back in {patience:g} s")
                self._changed.wait(left)

    def buffer(self, size: int, block: bool | None = None, timeout: float | None = None) -> BufferLease:
        """acquire()."""
        return self.acquire(size, block, timeout)

    def prewarm(self, size: int, count: int) -> None:
        """Makes `count` pieces for that size. RuntimeError when they do not fit."""
        wanted = self._class_of(size)
        if wanted > self._max_class:
            raise RuntimeError(f"{wanted} bytes are more than max_size_class, {self._max_class}, and not kept")
        with self._changed:
            for _ in range(count):
                region = self._make(wanted)
                if region is None:
                    raise RuntimeError(f"{count} buffers of {wanted} bytes do not fit into {self._max_bytes}")
                self._free.setdefault(wanted, []).append(region)
            self._changed.notify_all()

    def close(self) -> None:
        """Unregisters all memory; nothing happens the second time. RuntimeError while any of it is lent."""
        with self._changed:
            if self._lent:
                raise RuntimeError(f"the pool cannot be closed: {self._lent} of its buffers are lent")
            self._closed = True
            self._drop_all_free()
            self._changed.notify_all()

    def _class_of(self, size: int) -> int:
        if size <= self._min_class:
            return self._min_class
        if size <= self._alignment:
            return 1 << (size - 1).bit_length()
        return -(-size // self._alignment) * self._alignment

    def _take(self, wanted: int) -> _Region | None:
        if self._closed:
            raise RuntimeError("the pool is closed")
        free = self._free.get(wanted)
        if free:
            return free.pop()
        region = self._make(wanted)
        if region is None and self._drop_free(wanted):
            region = self._make(wanted)
        return region

    def _make(self, size: int) -> _Region | None:
        """None at a bound."""
        if self._closed:
            raise RuntimeError("the pool is closed")
        if self._bytes + size > self._max_bytes or (
            self._max_regions is not None and self._regions >= self._max_regions
        ):
            return None
        region = (ctypes.c_char * size).from_buffer(_mapping(size))
        code = self._store.register_buffer(ctypes.addressof(region), size)
        if code != 0:
            raise RuntimeError(f"register_buffer answered {code}")
        self._bytes += size
        self._regions += 1
        return region

    def _drop_free(self, wanted: int) -> bool:
        """Makes room for another size out of what is not lent. False when that is not enough."""
        free = sum(len(region) for regions in self._free.values() for region in regions)
        if free == 0 or self._bytes - free + wanted > self._max_bytes:
            return False
        self._drop_all_free()
        return True

    def _drop_all_free(self) -> None:
        while self._free:
            for region in self._free.popitem()[1]:
                self._drop(region)

    def _drop(self, region: _Region) -> None:
        self._store.unregister_buffer(ctypes.addressof(region))
        self._bytes -= len(region)
        self._regions -= 1

    def _give_back(self, region: _Region) -> None:
        with self._changed:
            self._lent -= 1
            if self._closed or len(region) > self._max_class:
                self._drop(region)
            else:
                self._free.setdefault(len(region), []).append(region)
            self._changed.notify_all()


@functools.lru_cache(maxsize=64)
def _view_class(size: int) -> Any:
    """Memory of that many bytes as a BufferLeaseView."""
    return type("BufferLeaseView", (BufferLeaseView, ctypes.c_ubyte * size), {})


RegisteredBufferLease = BufferLease
RegisteredBufferLeaseView = BufferLeaseView
RegisteredBufferPool = BufferPool


def _mapping(size: int) -> mmap.mmap:
    try:
        return mmap.mmap(-1, size)
    except (OSError, OverflowError) as problem:
        raise RuntimeError(f"no memory for a buffer of {size} bytes: {problem}") from problem
