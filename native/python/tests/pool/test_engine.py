# SPDX-License-Identifier: Apache-2.0
"""A transfer engine and a store in one process, the engine handed to the store as vllm-ascend and SGLang do."""

import ctypes
import threading
from collections.abc import Iterator

import pytest
from local_pool import LocalPool
from waiting import eventually

from mooncake.engine import TransferEngine
from mooncake.store import MooncakeDistributedStore, ReplicateConfig

MIB = 1 << 20


@pytest.fixture
def engine() -> Iterator[TransferEngine]:
    made = TransferEngine()
    assert made.initialize("127.0.0.1", "P2PHANDSHAKE", "tcp", "") == 0
    yield made
    made.get_engine().engine.close()


def open_with(engine: TransferEngine, pool: LocalPool, protocol: str = "tcp") -> MooncakeDistributedStore:
    """As vllm-ascend does: every argument by its name."""
    store = MooncakeDistributedStore()
    code = store.setup(
        local_hostname=f"127.0.0.1:{engine.get_rpc_port()}",
        metadata_server="P2PHANDSHAKE",
        global_segment_size=0,
        local_buffer_size=64 << 20,
        protocol=protocol,
        rdma_devices="",
        master_server_addr=pool.masters,
        engine=engine.get_engine(),
    )
    assert code == 0
    return store


def test_the_store_takes_the_engine_and_both_go_on(pool: LocalPool, engine: TransferEngine, prefix: str) -> None:
    peer = TransferEngine()
    assert peer.initialize("127.0.0.1", "P2PHANDSHAKE", "tcp", "") == 0
    store = open_with(engine, pool)

    ours = ctypes.create_string_buffer(b"from the pool", 4096)
    theirs = ctypes.create_string_buffer(4096)
    for memory, owner in ((ours, engine), (theirs, peer)):
        assert owner.register_memory(ctypes.addressof(memory), len(memory)) == 0
    assert store.put_from(prefix, ctypes.addressof(ours), 13) == 0
    assert store.register_buffer(ctypes.addressof(ours), len(ours)) == 0, "the same memory may be registered with both"

    target = f"127.0.0.1:{peer.get_rpc_port()}"
    assert engine.transfer_sync_write(target, ctypes.addressof(ours), ctypes.addressof(theirs), 13) == 0
    assert theirs.raw[:13] == b"from the pool"

    ctypes.memset(ours, 0, len(ours))
    assert store.get_into(prefix, ctypes.addressof(ours), len(ours)) == 13
    assert ours.raw[:13] == b"from the pool"

    store.close()  # the engine is not the store's to end
    assert engine.transfer_sync_read(target, ctypes.addressof(ours) + 100, ctypes.addressof(theirs), 13) == 0
    assert ours.raw[100:113] == b"from the pool"


@pytest.mark.parametrize("registered", ["before", "after"])
def test_what_vllm_ascend_does(pool: LocalPool, prefix: str, monkeypatch: pytest.MonkeyPatch, registered: str) -> None:
    """Of its mooncake_backend.py and mooncake_transfer_engine.py: blocks of pieces in memory that only the engine knows."""
    monkeypatch.setenv("KVPOOL_PROTOCOL_OVERRIDE", "tcp")
    layers = [(ctypes.c_char * MIB)(*bytes([layer + 1]) * 100_000) for layer in range(4)]
    engine = TransferEngine()
    assert engine.initialize("127.0.0.1", "P2PHANDSHAKE", "ascend", "") == 0
    if registered == "after":
        store = open_with(engine, pool, "ascend")
    for layer in layers:
        assert engine.register_memory(ctypes.addressof(layer), MIB) == 0
    if registered == "before":
        store = open_with(engine, pool, "ascend")
    keys = [f"{prefix}/{registered}/{block}" for block in range(3)]
    sizes = [[30_000] * 4] * 3

    def addresses(offset: int) -> list[list[int]]:
        return [[ctypes.addressof(layer) + offset + 30_000 * block for layer in layers] for block in range(3)]

    config = ReplicateConfig()
    config.prefer_alloc_in_same_node = True
    assert store.batch_is_exist(keys) == [0, 0, 0]
    assert store.batch_put_from_multi_buffers(keys, addresses(0), sizes, config) == [0, 0, 0]
    assert store.batch_get_into_multi_buffers(keys, addresses(MIB // 2), sizes) == [120_000] * 3
    for layer in layers:
        assert layer.raw[MIB // 2 : MIB // 2 + 90_000] == layer.raw[:90_000]
    assert engine.batch_unregister_memory([ctypes.addressof(layer) for layer in layers]) == 0
    assert store.batch_put_from_multi_buffers(["none"], [[ctypes.addressof(layers[0])]], [[1]]) == [-600]
    store.close()


def test_memory_is_held_until_the_put_that_is_at_it_is_over(
    pool: LocalPool, engine: TransferEngine, prefix: str
) -> None:
    """Puts in some threads, unregister and register in another, which writes to the memory whenever it is its own again:
    what was put is whole."""
    size, turns = 4 * MIB, 15
    memory = (ctypes.c_char * size)()
    at = ctypes.addressof(memory)
    store = open_with(engine, pool)
    codes: list[int] = []
    wrong: list[str] = []
    stop = threading.Event()

    def put(thread: int) -> None:
        count = 0
        while not stop.is_set():
            key = f"{prefix}/{thread}/{count}"
            count += 1
            code = store.put_from(key, at, size)
            codes.append(code)
            if code == 0 and len(set(store.get(key))) != 1:
                wrong.append(key)
            store.remove(key, force=True)

    threads = [threading.Thread(target=put, args=(thread,)) for thread in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(turns):
        assert engine.register_memory(at, size) == 0
        done = codes.count(0)
        eventually(lambda done=done: codes.count(0) > done, "a put of this turn is done")
        assert engine.unregister_memory(at) == 0
        ctypes.memset(at, turn + 1, size)
    stop.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert set(codes) <= {0, -600} and codes.count(0) >= turns
    store.close()


def test_what_else_listens_in_a_pool_is_no_peer_and_goes_on(
    pool: LocalPool, engine: TransferEngine, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    memory = ctypes.create_string_buffer(4096)
    at = ctypes.addressof(memory)
    store = open_with(engine, pool)
    for target in (pool.masters.split(",")[0], pool.nodes[0]):
        caplog.clear()
        assert engine.transfer_sync_write(target, at, at, 4096) == -1
        assert engine.batch_transfer_async_read(target, [at], [at], [4096]) == 0
        assert engine.send_probe(target) == -1
        assert f"{target} refused the connection" in caplog.text and "client" in caplog.text, "who is served is said"
    assert store.put(prefix, b"on") == 0
    assert store.get(prefix) == b"on"
    store.close()


def test_a_store_that_is_closed_meanwhile(pool: LocalPool, engine: TransferEngine, prefix: str) -> None:
    memory = (ctypes.c_char * (8 * MIB))()
    at = ctypes.addressof(memory)
    assert engine.register_memory(at, len(memory)) == 0
    for turn in range(5):
        store = open_with(engine, pool)
        codes: list[int] = []

        def put(store: MooncakeDistributedStore = store, turn: int = turn, codes: list[int] = codes) -> None:
            codes.append(store.put_from(f"{prefix}/{turn}", at, len(memory)))

        putting = threading.Thread(target=put)
        putting.start()
        store.close()
        putting.join()
        assert codes[0] in (0, -600)
    assert engine.unregister_memory(at) == 0
