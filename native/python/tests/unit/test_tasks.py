# SPDX-License-Identifier: Apache-2.0
"""Copies and moves that are asked for by name."""

import time

import pytest
from conftest import Fake

import kvpool
from kvpool import Status, Task, TaskState
from mooncake.store import MooncakeDistributedStore, QueryTaskResponse, TaskStatus, TaskType


def test_a_client_asks_for_copies_and_how_far_they_are(client: kvpool.Client) -> None:
    client.put("k", b"v")
    assert client.task(client.copy("k", ["a"])) == Task(TaskState.SUCCESS, Status.OK, False, 3.0, 1.0)
    assert client.task(client.copy(b"k", ["b"], source="a")) == Task(TaskState.FAILED, Status.NO_SPACE, True, 3.0, 1.0)
    assert client.task(7) is None
    with pytest.raises(kvpool.ObjectError):
        client.copy("none", ["a"])
    for nodes in ([], ["nobody"]):
        with pytest.raises(kvpool.CallError):
            client.copy("k", nodes)
    with pytest.raises(TypeError):
        client.copy("k", [1])  # type: ignore[list-item]


def test_a_store_does(store: MooncakeDistributedStore) -> None:
    store.put("k", b"v")
    copying, code = store.create_copy_task("k", ["a"])
    assert code == 0
    told, code = store.query_task(copying)
    assert code == 0
    assert told is not None
    assert (told.id, told.type, told.status, told.message) == (copying, TaskType.REPLICA_COPY, TaskStatus.SUCCESS, "")
    assert told.assigned_client == (0, 0)
    now = time.time() * 1000
    assert now - 3500 < told.created_at_ms_epoch <= now - 3000
    assert now - 1500 < told.last_updated_at_ms_epoch <= now - 1000

    moving, code = store.create_move_task("k", "a", "b")
    assert code == 0
    assert moving != copying
    told, code = store.query_task(moving)
    assert told is not None
    assert (told.type, told.status, told.message) == (TaskType.REPLICA_MOVE, TaskStatus.FAILED, "NO_SPACE")


def test_codes(store: MooncakeDistributedStore, fake: Fake) -> None:
    store.put("k", b"v")
    assert store.create_copy_task("none", ["a"]) == ((0, 0), -704)
    assert store.create_copy_task("k", []) == ((0, 0), -600)
    assert store.create_move_task("k", "a", "nobody") == ((0, 0), -600)
    for unknown in ((7, 0), (7, 7), (-1, 0), (1 << 64, 0)):
        assert store.query_task(unknown) == (None, -1400)
    fake.state.submit_status = Status.QUEUE_FULL
    assert store.create_copy_task("k", ["a"]) == ((0, 0), -1401)
    fake.state.submit_status = Status.TIMEOUT
    assert store.create_copy_task("k", ["a"]) == ((0, 0), -901)
    assert store.query_task((7, 0)) == (None, -901)
    assert MooncakeDistributedStore().create_copy_task("k", ["a"]) == ((0, 0), -600)
    assert MooncakeDistributedStore().query_task((7, 0)) == (None, -600)


def test_the_values_of_the_reference() -> None:
    assert [status.value for status in (TaskStatus.PENDING, TaskStatus.PROCESSING, TaskStatus.FAILED)] == [0, 1, 2]
    assert (TaskStatus.SUCCESS.value, TaskType.REPLICA_COPY.value, TaskType.REPLICA_MOVE.value) == (3, 0, 1)
    assert QueryTaskResponse() == QueryTaskResponse((0, 0), TaskType.REPLICA_COPY, TaskStatus.PENDING, 0, 0, (0, 0), "")
