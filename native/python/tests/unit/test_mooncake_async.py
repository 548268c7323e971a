# SPDX-License-Identifier: Apache-2.0
"""mooncake.async_store: the methods of mooncake.store as coroutines."""

import asyncio
import ctypes
import inspect

import pytest
from conftest import PUT, Fake
from in_loop import in_loop, soon

from kvpool import Status
from mooncake.async_store import MooncakeDistributedStoreAsync
from mooncake.store import MooncakeDistributedStore, ReplicateConfig

SETUP = ("10.0.0.5", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", "m:1")


async def open_store(max_calls: int = 16) -> MooncakeDistributedStoreAsync:
    store = MooncakeDistributedStoreAsync(max_calls=max_calls)
    assert await store.async_setup(*SETUP) == 0
    return store


def test_every_method_has_its_coroutine() -> None:
    methods = {name for name in dir(MooncakeDistributedStore) if not name.startswith("_")}
    for name in methods:
        method, coroutine = (getattr(MooncakeDistributedStoreAsync, prefix + name) for prefix in ("", "async_"))
        assert inspect.iscoroutinefunction(coroutine), name
        assert coroutine.__name__ == f"async_{name}"
        assert coroutine.__doc__ == method.__doc__
        assert inspect.signature(coroutine).parameters == inspect.signature(method).parameters
    own = {name for name in vars(MooncakeDistributedStoreAsync) if not name.startswith("_")}
    assert own == {f"async_{name}" for name in methods}
    with pytest.raises(AttributeError, match="async_no_such_method"):
        _ = MooncakeDistributedStoreAsync().async_no_such_method


@in_loop
async def test_coroutines_answer_as_the_methods(fake: Fake) -> None:
    store = await open_store()
    assert isinstance(store, MooncakeDistributedStore)
    assert await store.async_get_hostname() == "10.0.0.5"
    assert await store.async_health_check() == 0
    assert await store.async_put("key", b"value") == 0
    assert store.get("key") == b"value", "the methods that block are there too"
    assert await store.async_get("key") == b"value"
    assert await store.async_put_parts("parts", b"a", b"b", config=ReplicateConfig(replica_num=2)) == 0
    assert fake.last_call[3] == "2"
    assert await store.async_upsert("key", b"new") == 0
    assert await store.async_put_batch(["a", "b"], [b"1", b"2"]) == 0
    assert await store.async_get_batch(["key", "none", "parts"]) == [b"new", b"", b"ab"]
    assert await store.async_batch_is_exist(["a", "none"]) == [1, 0]
    assert (await store.async_is_exist("b"), await store.async_get_size("key")) == (1, 3)
    assert await store.async_remove("a") == 0
    assert await store.async_batch_remove(["a", "b"], force=True) == [-704, 0]
    assert await store.async_remove_all(force=True) == 2
    fake.fail(PUT, Status.NO_SPACE)
    assert await store.async_put("key", b"v") == -200
    with pytest.raises(TypeError):
        await store.async_put("key")
    assert await store.async_close() == 0


@in_loop
async def test_memory_by_address(fake: Fake) -> None:
    memory = (ctypes.c_char * 64)(*b"hello")
    address = ctypes.addressof(memory)
    store = await open_store()
    assert await store.async_register_buffer(address, 64) == 0
    assert await store.async_put_from("k", address, 5) == 0
    assert await store.async_batch_put_from_multi_buffers(["m"], [[address, address]], [[2, 3]]) == [0]
    assert await store.async_get_into("k", address + 8, 8) == 5
    assert await store.async_batch_get_into(["m", "none"], [address + 16, address], [8, 8]) == [5, -704]
    assert (memory.raw[8:13], memory.raw[16:21]) == (b"hello", b"hehel")
    assert await store.async_unregister_buffer(address) == 0
    await store.async_close()


@in_loop
async def test_coroutines_run_at_the_same_time_up_to_the_limit(fake: Fake) -> None:
    store = await open_store(max_calls=4)
    fake.state.meeting = 4
    assert await asyncio.gather(*(store.async_put(f"k{i}", b"v") for i in range(12))) == [0] * 12
    assert fake.state.most_batches == 4
    await store.async_close()
    with pytest.raises(ValueError, match="max_calls"):
        MooncakeDistributedStoreAsync(max_calls=0)


@in_loop
async def test_close_waits_for_the_running_call_and_the_others_answer_as_after_it(fake: Fake) -> None:
    store = await open_store(max_calls=1)
    assert await store.async_put("key", b"value") == 0
    fake.close_gate()
    running = asyncio.create_task(store.async_get("key"))
    queued = asyncio.create_task(store.async_put("queued", b"v"))
    await soon(lambda: fake.state.waiting, "the get is in the library")
    closing = asyncio.create_task(store.async_close())
    await soon(lambda: store.get_hostname() == "", "the store is being closed")
    assert not closing.done() and fake.state.clients == 1
    fake.open_gate()
    assert (await running, await queued, await closing) == (b"value", -600, 0)
    assert fake.state.clients == 0
    assert (await store.async_put("key", b"v"), await store.async_get("key")) == (-600, b"")
    assert await store.async_setup(*SETUP) == 0, "it may be set up again"
    assert await store.async_put("again", b"v") == 0
    await store.async_close()


@in_loop
async def test_a_cancelled_put_may_still_happen(fake: Fake) -> None:
    store = await open_store()
    fake.close_gate()
    put = asyncio.create_task(store.async_put("key", b"value"))
    await soon(lambda: fake.state.waiting, "the put is in the library")
    put.cancel()
    with pytest.raises(asyncio.CancelledError):
        await put
    fake.open_gate()
    await soon(lambda: fake.state.batches == 0, "the put is done")
    assert await store.async_get("key") == b"value"
    await store.async_close()


@in_loop
async def test_a_subclass_changes_the_coroutine_too(fake: Fake) -> None:
    class Prefixed(MooncakeDistributedStoreAsync):
        def put(self, key: str, value: bytes, config: ReplicateConfig | None = None) -> int:
            return super().put(f"mine/{key}", value, config)

    store = Prefixed()
    assert await store.async_setup(*SETUP) == 0
    assert await store.async_put("key", b"v") == 0
    assert await store.async_batch_is_exist(["mine/key", "key"]) == [1, 0]
    await store.async_close()
