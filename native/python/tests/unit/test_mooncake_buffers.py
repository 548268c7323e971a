# SPDX-License-Identifier: Apache-2.0
"""mooncake.store: values in memory of their own."""

import ctypes
import gc
import weakref
from collections.abc import Callable

import pytest
from conftest import GET, SETUP, Fake
from in_loop import in_loop

from kvpool import Status
from mooncake.async_store import MooncakeDistributedStoreAsync
from mooncake.store import BufferHandle, MooncakeDistributedStore

VALUE = b"\xffhello"


def test_a_handle_is_a_value_with_an_address(store: MooncakeDistributedStore) -> None:
    store.put("k", VALUE)
    handle = store.get_buffer("k")
    assert isinstance(handle, BufferHandle)
    assert handle.size() == len(handle) == 6
    assert ctypes.string_at(handle.ptr(), 6) == bytes(handle) == VALUE
    assert "6 bytes" in repr(handle)


def test_its_buffer_is_as_the_reference_has_it(store: MooncakeDistributedStore) -> None:
    store.put("k", VALUE)
    handle = store.get_buffer("k")
    view = memoryview(handle)
    assert (view.format, view.readonly, view.ndim, view.shape, view.c_contiguous) == ("b", False, 1, (6,), True)
    view.cast("B")[1:] = b"HELLO"
    assert ctypes.string_at(handle.ptr(), 6) == b"\xffHELLO", "a view and ptr() are the same memory"
    assert store.get("k") == VALUE, "which is a copy"
    other = store.get_buffer("k")
    assert handle != other and handle == handle
    assert {handle: 1}[handle] == 1


def test_a_miss_is_none_and_a_batch_keeps_its_order(store: MooncakeDistributedStore) -> None:
    store.put_batch(["a", "b", "empty"], [b"1", b"2" * 5000, b""])
    assert store.get_buffer("none") is None
    assert store.batch_get_buffer([]) == []
    found = store.batch_get_buffer(["b", "none", "a", "b", "empty"])
    assert [handle and bytes(handle) for handle in found[:4]] == [b"2" * 5000, None, b"1", b"2" * 5000]
    assert found[0].ptr() != found[3].ptr(), "each has memory of its own"
    assert (found[4].size(), found[4].ptr(), bytes(found[4])) == (0, 0, b"")


def test_a_handle_outlives_its_store(store: MooncakeDistributedStore) -> None:
    store.put("k", VALUE * 1000)
    view = memoryview(store.get_buffer("k"))
    store.remove("k", force=True)
    store.close()
    gc.collect()
    assert bytes(view) == VALUE * 1000


def test_memory_goes_with_the_last_reference(store: MooncakeDistributedStore) -> None:
    store.put("k", VALUE)
    handle = store.get_buffer("k")
    view, gone = memoryview(handle), weakref.ref(handle)
    del handle
    assert gone() is not None, "the view holds it"
    view.release()
    assert gone() is None, "and nothing else does, without the collector"


@pytest.mark.parametrize(
    "change",
    [
        lambda handle: handle.append(1),
        lambda handle: handle.extend(b"x"),
        lambda handle: handle.frombytes(b"x"),
        lambda handle: handle.pop(),
        lambda handle: handle.insert(0, 1),
        lambda handle: handle.__iadd__(handle),
        lambda handle: handle.__imul__(1000),
        lambda handle: handle.__setitem__(slice(0, 2), handle),
        lambda handle: handle.__delitem__(0),
    ],
)
def test_its_memory_stays_where_it_is(
    store: MooncakeDistributedStore, change: Callable[[BufferHandle], object]
) -> None:
    store.put("k", VALUE)
    handle = store.get_buffer("k")
    with pytest.raises(TypeError, match="keeps its size"):
        change(handle)
    assert bytes(handle) == VALUE


@pytest.mark.parametrize("status", [status for status in Status if status])
def test_what_cannot_be_read_is_none_and_the_log_says_why(
    store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture, status: Status
) -> None:
    store.put("k", VALUE)
    fake.fail(GET, status, lines=100, sentence="demo-0 said so")
    assert store.batch_get_buffer(["k", "l"]) == [None, None]
    assert ("get_buffer: 2 of 2 keys failed" in caplog.text) == (status is not Status.NOT_FOUND)
    fake.fail(GET, status, lines=100)
    assert store.get_buffer("k") is None


def test_a_batch_that_fails_as_a_whole(store: MooncakeDistributedStore, fake: Fake) -> None:
    fake.state.submit_status = Status.QUEUE_FULL
    assert store.batch_get_buffer(["k", "l"]) == [None, None]
    assert store.get_buffer("") is None


def test_before_setup_and_after_close(fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    """LMCache says which buffer is missing, for each key; an empty list it takes for a defect of its own."""
    store = MooncakeDistributedStore()
    assert (store.get_buffer("k"), store.batch_get_buffer(["k", "l"])) == (None, [None, None])
    assert "get_buffer: the store is not set up: -600 INVALID_PARAMS: setup() was never called" in caplog.text
    assert store.setup(*SETUP) == store.close() == 0
    assert (store.get_buffer("k"), store.batch_get_buffer(["k"])) == (None, [None])


@in_loop
async def test_coroutines(fake: Fake) -> None:
    store = MooncakeDistributedStoreAsync()
    assert await store.async_setup(*SETUP) == 0
    await store.async_put("k", VALUE)
    assert bytes(await store.async_get_buffer("k")) == VALUE
    found = await store.async_batch_get_buffer(["none", "k"])
    assert (found[0], bytes(found[1])) == (None, VALUE)
    await store.async_close()
