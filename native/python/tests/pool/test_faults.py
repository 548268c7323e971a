# SPDX-License-Identifier: Apache-2.0
"""Processes of a pool are killed under a client's hands."""

import ctypes
import random

from conftest import open_store
from local_pool import LocalPool
from waiting import eventually

from mooncake.store import MooncakeDistributedStore, ReplicateConfig

COUNT = 200
BYTES = 100


def value_of(key: str) -> bytes:
    return random.Random(key).randbytes(random.Random(key).randrange(20_000))


class Session:
    """One that reads the last BYTES of each value."""

    def __init__(self, store: MooncakeDistributedStore, keys: list[str]) -> None:
        self._store, self._keys = store, keys
        self._sizes = [min(BYTES, len(value_of(key))) for key in keys]
        self._memory = (ctypes.c_char * (BYTES * len(keys)))()
        assert store.register_buffer(ctypes.addressof(self._memory), len(self._memory)) == 0
        assert store.batch_get_session_start(keys) == [0] * len(keys)

    def read(self) -> list[bytes | int]:
        """The bytes, or the code, of each key."""
        places = range(0, len(self._memory), BYTES)
        answers = self._store.batch_get_into_multi_buffer_ranges(
            self._keys,
            [[ctypes.addressof(self._memory) + place] for place in places],
            [[size] for size in self._sizes],
            [[len(value_of(key)) - size] for key, size in zip(self._keys, self._sizes, strict=True)],
        )
        return [self._memory[at : at + code] if code >= 0 else code for at, code in zip(places, answers, strict=True)]


def test_the_leader_is_killed_and_then_the_other_master() -> None:
    pool = LocalPool(masters=2)
    try:
        store = open_store(pool)
        keys = [f"before/{i}" for i in range(COUNT)]
        assert store.put_batch(keys, [value_of(key) for key in keys]) == 0
        session = Session(store, keys)
        before = pool.leader()
        pool.kill(before)
        assert store.put("after", b"v") == 0, "a put waits for the next leader"
        assert session.read() == [value_of(key)[-BYTES:] for key in keys]
        assert store.get_batch(keys) == [value_of(key) for key in keys]
        assert store.get("after") == b"v"
        assert store.health_check() == 0
        after = pool.leader()
        assert after != before
        pool.kill(after)
        eventually(lambda: store.health_check() == 2, "the client notices that no master is left")
        store.close()
    finally:
        pool.close()


def test_put_sessions_end_with_their_leader_and_can_be_started_again() -> None:
    pool = LocalPool(masters=2)
    try:
        store = open_store(pool)
        # A session starts at the nodes that are reached in time: both are connected before.
        assert store.put("both are reached", b"x", ReplicateConfig(replica_num=2)) == 0
        memory = (ctypes.c_char * 1000)(*b"0123456789" * 100)
        at = ctypes.addressof(memory)
        assert store.register_buffer(at, 1000) == 0
        assert store.batch_put_session_start(["whole", "half"], [1000] * 2) == [0, 0]
        write = store.batch_put_from_multi_buffer_ranges
        assert write(["whole", "half"], [[at]] * 2, [[1000], [500]], [[0]] * 2) == [1000, 500]
        pool.kill(pool.leader())
        assert store.put("after", b"v") == 0, "there is another leader"
        assert store.batch_put_session_end(["whole"]) == [-707]
        # The node of this one may meet the new leader later than that of the other.
        eventually(lambda: write(["half"], [[at]], [[500]], [[500]]) == [-707], "its leader is obeyed no more")
        keys = ["whole", "half"]
        assert store.batch_is_exist(keys) == [0, 0]
        assert store.batch_put_session_start(keys, [1000] * 2) == [0, 0]
        assert write(keys, [[at]] * 2, [[1000]] * 2, [[0]] * 2) == [1000, 1000]
        assert store.batch_put_session_end(keys) == [0, 0]
        assert store.get_batch(keys) == [memory.raw] * 2
        store.close()
    finally:
        pool.close()


def test_put_sessions_go_on_with_one_of_two_nodes() -> None:
    pool = LocalPool()
    try:
        store = open_store(pool)
        memory = (ctypes.c_char * 1000)(*b"0123456789" * 100)
        at = ctypes.addressof(memory)
        assert store.register_buffer(at, 1000) == 0
        keys = [f"twice/{i}" for i in range(8)]
        assert store.batch_put_session_start(keys, [1000] * 8, ReplicateConfig(replica_num=2)) == [0] * 8
        write = store.batch_put_from_multi_buffer_ranges
        assert write(keys, [[at]] * 8, [[500]] * 8, [[0]] * 8) == [500] * 8
        pool.kill("node-0")
        assert write(keys, [[at + 500]] * 8, [[500]] * 8, [[500]] * 8) == [500] * 8
        assert store.batch_put_session_end(keys) == [0] * 8
        assert store.get_batch(keys) == [memory.raw] * 8
        store.close()
    finally:
        pool.close()


def test_without_storage_nodes_the_cache_lives_as_long_as_its_engines() -> None:
    """Engines hold everything, each in memory of its own; the only master is killed and started again."""
    pool = LocalPool(nodes=0, restart=True)
    try:
        stores = [open_store(pool, segment_bytes=256 << 20) for _ in range(2)]
        eventually(lambda: len(pool.view()["nodes"]) == 2, "both are members")
        keys = [f"engine/{i}" for i in range(2 * COUNT)]
        for store, part in zip(stores, (keys[:COUNT], keys[COUNT:]), strict=True):
            assert store.put_batch(part, [value_of(key) for key in part]) == 0
        eventually(lambda: all(node["objects"] for node in pool.view()["nodes"]), "each holds some")

        pool.kill_and_await_restart("master-0")
        found = stores[1].get_batch(keys)

        assert sum(value == value_of(key) for key, value in zip(keys, found, strict=True)) == 2 * COUNT
        assert stores[0].remove(keys[0], force=True) == 0
        assert stores[1].is_exist(keys[0]) == 0
        stores[0].close()
        left = stores[1].get_batch(keys)
        assert 0 < sum(map(bool, left)) < 2 * COUNT, "what the other engine held is gone with it"
        stores[1].close()
    finally:
        pool.close()


def test_a_storage_node_is_killed() -> None:
    """Without --restart it stays away: its objects are out of reach, the others and new ones are not."""
    pool = LocalPool()
    try:
        store = open_store(pool)
        keys = [f"k/{i}" for i in range(COUNT)]
        assert store.put_batch(keys, [value_of(key) for key in keys]) == 0
        twice = [f"twice/{i}" for i in range(COUNT)]
        assert store.put_batch(twice, [value_of(key) for key in twice], ReplicateConfig(replica_num=2)) == 0
        session = Session(store, keys + twice)
        pool.kill("node-0")
        eventually(lambda: [n["state"] for n in pool.view()["nodes"] if n["id"] == "node-0"] == ["away"], "it is away")
        read = session.read()
        assert read[COUNT:] == [value_of(key)[-BYTES:] for key in twice], "from their other copies"
        assert all(part in (-703, -707, value_of(key)[-BYTES:]) for part, key in zip(read, keys, strict=False))
        found = store.get_batch(keys)
        assert all(value in (b"", value_of(key)) for key, value in zip(keys, found, strict=True))
        assert 0 < sum(map(bool, found)) < COUNT, "objects were on both nodes"
        missing = [key for key, value in zip(keys, found, strict=True) if not value and value_of(key)]
        assert set(store.batch_is_exist(missing)) == {0}
        assert store.put_batch(missing, [b"again"] * len(missing)) == 0, "a put supersedes what is out of reach"
        assert store.get_batch(missing) == [b"again"] * len(missing)
        store.close()
    finally:
        pool.close()


def test_nothing_removed_comes_back_with_a_storage_node_that_was_away_nor_is_anything_else_lost() -> None:
    """One of two is killed; objects are removed, replaced, replaced and evicted; the leader is killed, the node returns."""
    pool = LocalPool(masters=2, segment_bytes=64 << 20)
    try:
        store = open_store(pool)
        kept, removed, replaced, evicted = (
            [f"{what}/{i}" for i in range(COUNT)] for what in ("kept", "removed", "replaced", "evicted")
        )
        pinned = ReplicateConfig(with_hard_pin=True)
        assert store.put_batch(kept, [value_of(key) for key in kept], pinned) == 0
        for keys in (removed, replaced, evicted):
            assert store.put_batch(keys, [value_of(key) for key in keys]) == 0
        eventually(lambda: all(node["objects"] for node in pool.view()["nodes"]), "objects are on both nodes")

        bring_back = pool.kill_for_a_while("node-0")
        eventually(lambda: [n["state"] for n in pool.view()["nodes"]] == ["away", "ready"], "it is away")
        assert [store.remove(key, force=True) for key in removed] == [0] * COUNT
        assert [store.upsert(key, b"new") for key in evicted] == [0] * COUNT
        fillings = [f"filling/{i}" for i in range(128)]
        eventually(
            lambda: [store.upsert(key, bytes(1 << 20)) for key in fillings] and not any(store.batch_is_exist(evicted)),
            "what was replaced is evicted",
        )
        assert [store.upsert(key, b"new", pinned) for key in replaced] == [0] * COUNT
        pool.kill(pool.leader())
        assert store.put("after", b"v") == 0, "there is another leader"
        bring_back()
        eventually(lambda: [n["state"] for n in pool.view()["nodes"]] == ["ready", "ready"], "it is back")

        assert store.get_batch(kept) == [value_of(key) for key in kept]
        assert store.get_batch(replaced) == [b"new"] * COUNT
        assert store.get_batch(removed + evicted) == [b""] * 2 * COUNT
        store.close()
    finally:
        pool.close()


def test_whichever_process_dies_comes_back_with_everything() -> None:
    pool = LocalPool(masters=2, restart=True)
    try:
        store = open_store(pool)
        keys = [f"k/{i}" for i in range(COUNT)]
        assert store.put_batch(keys, [value_of(key) for key in keys]) == 0
        for name in ("node-0", "master-1", "node-1", "master-0"):
            pool.kill_and_await_restart(name)
            assert store.put(f"after {name}", b"v") == 0
            eventually(
                lambda: store.get_batch(keys) == [value_of(key) for key in keys], f"all is there after {name} died"
            )
            assert store.get(f"after {name}") == b"v"
        store.close()
    finally:
        pool.close()
