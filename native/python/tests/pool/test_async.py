# SPDX-License-Identifier: Apache-2.0
"""kvpool.aio and mooncake.async_store against a real pool."""

import asyncio
import random
import subprocess
import sys

import pytest
from conftest import ROOT, Agent
from in_loop import in_loop
from local_pool import LocalPool

import kvpool.aio
from mooncake.async_store import MooncakeDistributedStoreAsync

CALLS = 100


def values(prefix: str) -> dict[str, bytes]:
    """Of many sizes, 0 among them."""
    seeded = random.Random(prefix)
    return {f"{prefix}/{i}": seeded.randbytes(i * 997 % 300_000) for i in range(CALLS)}


@pytest.mark.parametrize("way", ["connect", "through_agent"])
@in_loop
async def test_many_puts_and_gets_at_a_time(pool: LocalPool, agent: Agent, prefix: str, way: str) -> None:
    if way == "connect":
        connecting = kvpool.aio.Client.connect(pool.masters)
    else:
        connecting = kvpool.aio.Client.through_agent(agent.address.removeprefix("unix:") + "/agent.sock")
    put = values(prefix)
    async with await connecting as client:
        await asyncio.gather(*(client.put(key, value) for key, value in put.items()))
        got = await asyncio.gather(*(client.get(key) for key in put))
        assert got == list(put.values())
        rooms = [bytearray(len(value)) for value in put.values()]
        lengths = await asyncio.gather(*(client.get_into(key, room) for key, room in zip(put, rooms, strict=True)))
        assert lengths == [len(value) for value in put.values()]
        assert rooms == list(put.values())
        assert (await client.stats())["puts"] == CALLS
        await client.remove_batch(list(put), force=True)


@in_loop
async def test_many_calls_of_the_store_at_a_time(pool: LocalPool, prefix: str) -> None:
    store = MooncakeDistributedStoreAsync()
    assert await store.async_setup("127.0.0.1", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", pool.masters) == 0
    put = values(prefix)
    assert await asyncio.gather(*(store.async_put(key, value) for key, value in put.items())) == [0] * CALLS
    assert await asyncio.gather(*(store.async_get(key) for key in put)) == list(put.values())
    assert set(await store.async_batch_remove(list(put), force=True)) == {0}
    assert await store.async_close() == 0


def test_the_example(pool: LocalPool) -> None:
    example = [sys.executable, str(ROOT / "native/python/examples/asyncio_put_get.py"), pool.masters]
    done = subprocess.run(example, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the same in one call         : True" in done.stdout
    assert "async_get b'hello, pool'" in done.stdout
