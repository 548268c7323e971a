# SPDX-License-Identifier: Apache-2.0
"""Copies and moves that are asked for by name, between the storage nodes of a real pool."""

import json
import random
import urllib.parse

import pytest
from conftest import open_lending_store, open_store
from local_pool import OBJECT_LEASE_SECONDS, LocalPool
from waiting import eventually

from mooncake.store import MooncakeDistributedStore, ReplicateConfig, TaskStatus, TaskType

VALUE = random.Random(7).randbytes(3 << 20)
NODES = {"node-0", "node-1"}


def holders(pool: LocalPool, key: str) -> set[str]:
    answer = json.loads(pool.admin("/api/v1/key?" + urllib.parse.urlencode({"key": key})))
    return {replica["node"] for replica in answer["replicas"]}


def put_one(pool: LocalPool, store: MooncakeDistributedStore, key: str) -> tuple[str, str]:
    """Where it lies, and where it does not."""
    assert store.put(key, VALUE) == 0
    (holder,) = holders(pool, key)
    (other,) = NODES - {holder}
    return holder, other


def outcome(store: MooncakeDistributedStore, task: tuple[int, int]) -> TaskStatus:
    told, code = store.query_task(task)
    assert code == 0
    assert told is not None
    return told.status


@pytest.mark.parametrize("protocol", ["tcp", "shm,tcp"])
def test_a_moved_object_is_read_from_where_it_went(
    pool: LocalPool, prefix: str, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KVPOOL_PROTOCOLS", protocol)
    store = open_store(pool)
    source, target = put_one(pool, store, prefix)
    task, code = store.create_move_task(prefix, source, target)
    assert code == 0
    eventually(lambda: outcome(store, task) == TaskStatus.SUCCESS, "the move")
    told, _ = store.query_task(task)
    assert told is not None
    assert told.type == TaskType.REPLICA_MOVE
    eventually(lambda: holders(pool, prefix) == {target}, "the source has let go of it")
    assert store.get(prefix) == VALUE
    assert store.create_move_task(prefix, source, target) == ((0, 0), -600), "it is not there any more"
    store.close()


def test_nodes_are_named_as_replica_descriptors_and_stores_name_them(pool: LocalPool, prefix: str) -> None:
    store = open_lending_store(pool)
    here = store.get_hostname()
    assert store.put(prefix, VALUE, ReplicateConfig(preferred_segment=here)) == 0
    task, code = store.create_move_task(prefix, here, pool.nodes[1])
    assert code == 0
    eventually(lambda: outcome(store, task) == TaskStatus.SUCCESS, "the move out of this process")
    eventually(lambda: holders(pool, prefix) == {"node-1"}, "this process has let go of it")
    task, code = store.create_copy_task(prefix, [pool.nodes[0]])
    assert code == 0
    eventually(lambda: outcome(store, task) == TaskStatus.SUCCESS, "the copy")
    assert holders(pool, prefix) == NODES
    assert store.create_copy_task(prefix, [here]) == ((0, 0), -600), "copies are kept on storage nodes alone"
    store.close()


def test_a_move_waits_for_readers(pool: LocalPool, prefix: str) -> None:
    store = open_store(pool)
    source, target = put_one(pool, store, prefix)
    assert store.get(prefix) == VALUE
    task, _ = store.create_move_task(prefix, source, target)
    eventually(lambda: holders(pool, prefix) == NODES, "the copy")
    assert outcome(store, task) != TaskStatus.SUCCESS
    assert store.get(prefix) == VALUE
    eventually(lambda: outcome(store, task) == TaskStatus.SUCCESS, "the move", 3 * OBJECT_LEASE_SECONDS)
    store.close()


def test_a_copy_is_kept(pool: LocalPool, prefix: str) -> None:
    store = open_store(pool)
    holder, other = put_one(pool, store, prefix)
    task, code = store.create_copy_task(prefix, [holder, other])
    assert code == 0
    eventually(lambda: outcome(store, task) == TaskStatus.SUCCESS, "the copy")
    assert holders(pool, prefix) == NODES
    assert store.get(prefix) == VALUE
    store.close()


def test_what_cannot_be_is_refused(pool: LocalPool, prefix: str) -> None:
    store = open_store(pool)
    holder, other = put_one(pool, store, prefix)
    assert store.create_copy_task(f"{prefix}/none", [other]) == ((0, 0), -704)
    assert store.create_copy_task(prefix, ["nobody"]) == ((0, 0), -600)
    assert store.create_copy_task(prefix, []) == ((0, 0), -600)
    assert store.create_move_task(prefix, holder, holder) == ((0, 0), -600)
    assert store.query_task((1, 0)) == (None, -1400)
    store.close()
