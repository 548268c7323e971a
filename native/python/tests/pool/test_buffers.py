# SPDX-License-Identifier: Apache-2.0
"""Values in memory of their own, from a real pool: by setup() and by setup_dummy()."""

import ctypes
import gc
import random
import threading

import pytest
from conftest import open_store
from in_loop import in_loop
from local_pool import LocalPool
from unreadable import Unreadable

from mooncake.async_store import MooncakeDistributedStoreAsync
from mooncake.store import MooncakeDistributedStore

SIZES = [1, 63, 4096, 65_537, 1 << 20, (8 << 20) + 13, 0]


def value_of(key: str, size: int) -> bytes:
    return random.Random(key).randbytes(size)


def test_buffers_of_all_sizes_in_one_batch(store: MooncakeDistributedStore, prefix: str) -> None:
    values = {f"{prefix}/{size}": value_of(prefix, size) for size in SIZES}
    assert store.put_batch(list(values), list(values.values())) == 0
    found = store.batch_get_buffer([f"{prefix}/none", *values])
    assert found[0] is None
    assert [handle.size() for handle in found[1:]] == SIZES
    assert [bytes(handle) for handle in found[1:]] == list(values.values())
    handle = store.get_buffer(f"{prefix}/65537")
    assert ctypes.string_at(handle.ptr(), handle.size()) == values[f"{prefix}/65537"]
    assert store.get_buffer(f"{prefix}/none") is None


def test_memory_that_cannot_be_read_is_not_registered_and_ends_no_process(
    store: MooncakeDistributedStore, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    with Unreadable(1 << 20) as device:
        assert store.register_buffer(device.address, device.size) == -600
        assert store.put_from(prefix, device.address, 5) == -600, "some engines put nevertheless"
    assert "kvpool moves memory of the host, not that of an accelerator" in caplog.text


def test_a_buffer_is_a_copy_that_nothing_takes_back(
    pool: LocalPool, store: MooncakeDistributedStore, prefix: str
) -> None:
    reader, value = open_store(pool), value_of(prefix, 300_000)
    assert store.put(prefix, value) == 0
    mine, other = store.get_buffer(prefix), reader.get_buffer(prefix)
    memoryview(mine).cast("B")[:5] = b"mine!"
    assert bytes(reader.get_buffer(prefix)) == value, "writing to it changes no object"
    assert store.upsert(prefix, value_of("new", 300_000)) == 0
    assert store.remove(prefix, force=True) == 0
    for i in range(20):  # takes the room of the object, were it still in use
        assert store.put(f"{prefix}/{i}", value_of(str(i), 300_000)) == 0
    reader.close()
    gc.collect()
    assert (bytes(mine), bytes(other)) == (b"mine!" + value[5:], value)


def test_buffers_from_many_threads(store: MooncakeDistributedStore, prefix: str) -> None:
    values = {f"{prefix}/{i}": value_of(str(i), 50_000 + i) for i in range(32)}
    assert store.put_batch(list(values), list(values.values())) == 0
    wrong: list[str] = []

    def read(seed: int) -> None:
        keys = random.Random(seed).sample(list(values), 16)
        wrong.extend(
            key
            for key, handle in zip(keys, store.batch_get_buffer(keys), strict=True)
            if handle is None or bytes(handle) != values[key]
        )

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@in_loop
async def test_buffers_by_coroutines(pool: LocalPool, prefix: str) -> None:
    store = MooncakeDistributedStoreAsync()
    assert await store.async_setup("127.0.0.1", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", pool.masters) == 0
    await store.async_put(prefix, b"value")
    found = await store.async_batch_get_buffer([prefix, f"{prefix}/none"])
    assert (bytes(found[0]), found[1]) == (b"value", None)
    assert await store.async_remove(prefix, force=True) == 0
    assert await store.async_close() == 0
