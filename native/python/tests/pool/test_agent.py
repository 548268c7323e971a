# SPDX-License-Identifier: Apache-2.0
"""setup_dummy() against a real agent and a real pool: processes that come, go and stand still."""

import ctypes
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from conftest import Agent, open_dummy, open_store
from local_pool import LocalPool
from waiting import eventually

from mooncake.store import MooncakeDistributedStore


def value_of(key: str, size: int) -> bytes:
    return random.Random(key).randbytes(size)


@pytest.fixture
def own(pool: LocalPool) -> Iterator[Agent]:
    """An agent that the test may end."""
    started = Agent(pool.masters)
    yield started
    started.resume()
    started.close()


def test_memory_of_the_pool_and_any_other(agent: Agent, prefix: str) -> None:
    store = open_dummy(agent)
    address = store.alloc_from_mem_pool(1 << 20)
    assert store.register_buffer(address, 1 << 20) == 0
    ctypes.memmove(address, value_of(prefix, 300_000), 300_000)
    assert store.put_from(prefix, address, 300_000) == 0
    room = ctypes.create_string_buffer(300_000)
    assert store.register_buffer(ctypes.addressof(room), 300_000) == 0
    assert store.get_into(prefix, ctypes.addressof(room), 300_000) == 300_000
    assert room.raw == value_of(prefix, 300_000)
    pieces = [address, address + 100_000, address + 200_000]
    assert store.batch_get_into_multi_buffers([prefix], [pieces], [[100_000] * 3]) == [300_000]
    assert ctypes.string_at(address, 300_000) == value_of(prefix, 300_000)
    assert store.batch_put_from_multi_buffers([prefix + "2"], [pieces], [[100_000] * 3]) == [0]
    assert store.get(prefix + "2") == value_of(prefix, 300_000)
    store.close()


def test_a_value_larger_than_the_shared_memory_is_told(
    agent: Agent, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_dummy(agent, 1 << 20)
    assert store.put(prefix, bytes(1 << 20)) == 0
    assert store.put(prefix + "2", bytes((1 << 20) + 1)) == -200
    assert "1048576 bytes of staging memory" in caplog.text
    assert store.get(prefix) == bytes(1 << 20)
    store.close()


def test_a_killed_agent_and_the_next_one(own: Agent, prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVPOOL_RETRY_DEADLINE", "2m")  # a JVM on a busy machine takes its time to start
    store = open_dummy(own)
    keys = [f"{prefix}/{i}" for i in range(50)]
    assert store.put_batch(keys, [value_of(key, 10_000) for key in keys]) == 0
    own.kill()
    eventually(lambda: store.health_check() == 2, "the client notices")
    codes: list[int] = []
    late = threading.Thread(target=lambda: codes.append(store.put(prefix, b"asked while nobody is there")))
    late.start()
    own.start()
    late.join()
    assert codes == [0], "it waited for the next agent"
    assert store.get_batch(keys) == [value_of(key, 10_000) for key in keys]
    assert own.terminate() == 0
    own.start()
    assert store.get(prefix) == b"asked while nobody is there"
    store.close()


def test_without_an_agent_a_call_ends_and_names_the_socket(
    own: Agent, prefix: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("KVPOOL_RETRY_DEADLINE", "500ms")
    store = open_dummy(own)
    own.kill()
    assert store.put(prefix, b"v") == -900
    assert store.is_exist(prefix) == -900
    assert own.address.removeprefix("unix:") in caplog.text
    store.close()


def test_an_agent_that_stands_still_costs_no_more_than_the_deadline(
    own: Agent, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KVPOOL_RETRY_DEADLINE", "500ms")
    store = open_dummy(own)
    own.pause()
    room = ctypes.create_string_buffer(b"." * 1000)
    assert store.register_buffer(ctypes.addressof(room), 1000) == 0
    assert store.get_into(prefix, ctypes.addressof(room), 1000) == -901
    own.resume()
    eventually(lambda: store.put(prefix, b"x" * 1000) == 0, "it goes on when the agent does")
    assert room.raw[:1000] == b"." * 1000, "what came too late went nowhere"
    store.close()


def test_a_client_that_dies_leaves_nothing_behind(own: Agent, prefix: str) -> None:
    program = (
        "import os, sys; from mooncake.store import MooncakeDistributedStore as Store; s = Store();"
        "assert s.setup_dummy(0, 512 << 20, sys.argv[1]) == 0; assert s.put(sys.argv[2], b'v' * 100000) == 0;"
        "os.kill(os.getpid(), 9)"
    )
    for i in range(4):  # together twice what the agent shares
        done = subprocess.run([sys.executable, "-c", program, own.address, f"{prefix}/{i}"], timeout=120, check=False)
        assert done.returncode == -9
        eventually(lambda: _attaches(own), "its memory is free again")
    store = open_dummy(own)
    assert all(store.get(f"{prefix}/{i}") == b"v" * 100_000 for i in range(4))
    store.close()


def _attaches(agent: Agent) -> bool:
    store = MooncakeDistributedStore()
    fits = store.setup_dummy(0, 1 << 30, agent.address) == 0
    store.close()
    return fits


def test_more_memory_than_the_agent_shares_is_refused_at_once(agent: Agent, caplog: pytest.LogCaptureFixture) -> None:
    store = MooncakeDistributedStore()
    assert store.setup_dummy(0, 2 << 30, agent.address) == -200
    assert "--staging-size" in caplog.text


def test_nobody_at_the_socket(impatient: None, caplog: pytest.LogCaptureFixture) -> None:
    store = MooncakeDistributedStore()
    assert store.setup_dummy(0, 0, f"unix:/tmp/kvpool-nobody-{os.getpid()}") == -900
    assert "does it run here?" in caplog.text


def test_both_ways_see_the_same_objects(pool: LocalPool, agent: Agent, prefix: str) -> None:
    direct, dummy = open_store(pool), open_dummy(agent)
    assert direct.put(prefix + "a", value_of(prefix, 70_000)) == 0
    assert dummy.put(prefix + "b", value_of(prefix, 70_000)) == 0
    assert dummy.get(prefix + "a") == direct.get(prefix + "b") == value_of(prefix, 70_000)
    direct.close()
    dummy.close()
