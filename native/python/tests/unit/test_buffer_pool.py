# SPDX-License-Identifier: Apache-2.0
"""mooncake.buffer_pool: registered memory that is lent."""

import ctypes
import gc
import threading
import time

import pytest

import mooncake
import mooncake.buffer_pool
import mooncake.store
from mooncake.buffer_pool import BufferPool
from mooncake.store import MooncakeDistributedStore

SETUP = ("10.0.0.5", "P2PHANDSHAKE", 0, 1 << 20, "tcp", "", "m:1")


@pytest.fixture
def setup_arguments() -> tuple[object, ...]:
    return SETUP


def test_it_has_all_its_names() -> None:
    assert mooncake.BufferPool is mooncake.store.BufferPool is mooncake.buffer_pool.BufferPool is BufferPool
    assert mooncake.buffer_pool.RegisteredBufferPool is BufferPool
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = mooncake.no_such_name


def test_what_is_lent_is_registered_memory(store: MooncakeDistributedStore) -> None:
    pool = BufferPool(store)
    with pool.acquire(5) as lease:
        assert (lease.size, len(lease.buffer)) == (5, 5)
        lease.buffer[:] = b"hello"
        assert ctypes.string_at(lease.ptr, 5) == b"hello"
        assert store.put_from("k", lease.ptr, 5) == 0
        assert store.get_into("k", lease.ptr, 1 << 16) == 5, "at least 64 KiB are there"
    assert store.get("k") == b"hello"
    pool.close()
    assert store.register_buffer(1, 1 << 40) == 0, "nothing of it is registered any more"


def test_it_is_used_again(store: MooncakeDistributedStore) -> None:
    pool = BufferPool(store)
    first = pool.acquire(5)
    address = first.ptr
    assert pool.buffer(6).ptr != address
    first.release()
    first.release()
    assert pool.acquire(65_536).ptr == address
    for use in (lambda: first.ptr, lambda: first.buffer):
        with pytest.raises(RuntimeError, match="given back"):
            use()
    assert first.size == 5


def test_views_hold_the_memory(store: MooncakeDistributedStore) -> None:
    pool = BufferPool(store, max_bytes=65_536)
    lease = pool.acquire(100)
    view = lease.buffer[10:20]
    other = lease.buffer
    del other
    with pytest.raises(RuntimeError, match="views"):
        lease.release()
    del lease
    gc.collect()
    with pytest.raises(RuntimeError, match="exhausted"):
        pool.acquire(1, block=False)
    with pytest.raises(RuntimeError, match="1 of its buffers"):
        pool.close()
    view[:] = b"0123456789"
    del view
    gc.collect()
    pool.acquire(1, block=False).release()
    pool.close()


def test_what_is_below_a_view_keeps_the_memory_too(store: MooncakeDistributedStore) -> None:
    pool = BufferPool(store)
    lease = pool.acquire(5)
    lease.buffer[:] = b"hello"
    below = lease.buffer.obj
    assert isinstance(below, mooncake.store.BufferLeaseView) and type(pool.acquire(5).buffer.obj) is type(below)
    assert (bytes(below), bytes(below.buffer), memoryview(below).nbytes) == (b"hello", b"hello", 5)
    with pytest.raises(RuntimeError, match="views"):
        lease.release()
    del below
    lease.release()


def test_bounds(store: MooncakeDistributedStore) -> None:
    pool = BufferPool(store, max_bytes=4 << 16, alignment=1 << 17, max_size_class=2 << 16, max_regions=3)
    with pytest.raises(RuntimeError, match="more than"):
        pool.acquire((4 << 16) + 1)
    large = pool.acquire(3 << 16)
    assert store.register_buffer(large.ptr, 1) == -600
    address = large.ptr
    large.release()
    assert store.register_buffer(address, 1) == 0, "what is larger than max_size_class is not kept"
    small = [pool.acquire(1) for _ in range(3)]
    with pytest.raises(RuntimeError, match="exhausted"):
        pool.acquire(1, block=False)
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=r"in 0\.02 s"):
        pool.acquire(1, timeout=0.02)
    assert time.monotonic() - begin >= 0.02
    for lease in small:
        lease.release()
    pool.acquire(2 << 16).release()  # in place of small ones that are not lent
    for wrong in ({"size": -1}, {"size": 1, "timeout": -1}):
        with pytest.raises(RuntimeError):
            pool.acquire(**wrong)


def test_a_waiting_thread_gets_what_comes_back(store: MooncakeDistributedStore) -> None:
    pool = BufferPool(store, max_bytes=65_536)
    lease = pool.acquire(1)
    address, got = lease.ptr, []
    waiting = threading.Thread(target=lambda: got.append(pool.acquire(1).ptr))
    waiting.start()
    time.sleep(0.02)
    assert got == []
    lease.release()
    waiting.join()
    assert got == [address]


def test_prewarmed(store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    pool = BufferPool(store, prewarm_size=70_000, prewarm_count=3)
    monkeypatch.setattr(store, "register_buffer", lambda *_: pytest.fail("registers again"))
    leases = [pool.acquire(100_000) for _ in range(3)]
    assert len({lease.ptr for lease in leases}) == 3
    monkeypatch.undo()
    with pytest.raises(RuntimeError, match="do not fit"):
        pool.prewarm(1 << 19, 2)
    with pytest.raises(RuntimeError, match="not kept"):
        pool.prewarm(1 << 21, 1)


def test_a_closed_pool(store: MooncakeDistributedStore) -> None:
    pool = BufferPool(store)
    lease = pool.acquire(1)
    with pytest.raises(RuntimeError, match="lent"):
        pool.close()
    assert pool.acquire(1).size == 1, "it goes on"
    lease.release()
    pool.close()
    pool.close()
    for use in (lambda: pool.acquire(1), lambda: pool.prewarm(1, 1)):
        with pytest.raises(RuntimeError, match="closed"):
            use()


def test_a_pool_that_cannot_be(store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"min_size_class": 0}, {"alignment": 3 << 20}, {"alignment": 8}, {"max_bytes": -1}):
        with pytest.raises(RuntimeError):
            BufferPool(store, **wrong)
    for closed in (None, MooncakeDistributedStore()):
        with pytest.raises(RuntimeError, match="not set up"):
            BufferPool(closed)
    without = MooncakeDistributedStore()
    without.setup("h", "P2PHANDSHAKE", 0, 0, "tcp", "", "m:1")
    with pytest.raises(RuntimeError, match="local_buffer_size"):
        BufferPool(without)
    BufferPool(without, 1 << 20).acquire(1)
    without.close()
    monkeypatch.setattr(store, "register_buffer", lambda *_: -600)
    with pytest.raises(RuntimeError, match="-600"):
        BufferPool(store).acquire(1)
    huge = BufferPool(store, max_bytes=1 << 62)
    with pytest.raises(RuntimeError, match="no memory"):
        huge.acquire(1 << 61)
