# SPDX-License-Identifier: Apache-2.0
"""mooncake.store: the answers engines rely on, for every method and every failure."""

import ctypes
import gc
import logging
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from conftest import EXISTS, GET, PUT, REMOVE, Fake

from kvpool import Status
from mooncake.answers.error_code import code_of
from mooncake.answers.failure_log import FailureLog
from mooncake.replicas.replica_descriptors import ReplicaDescriptor
from mooncake.store import MooncakeDistributedStore, ObjectDataType, ReplicaStatus, ReplicateConfig, SoftPinAction


@pytest.fixture
def store(fake: Fake) -> Iterator[MooncakeDistributedStore]:
    opened = MooncakeDistributedStore()
    assert opened.setup("10.0.0.5", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", "m:1") == 0
    yield opened
    opened.close()


class Memory:
    def __init__(self, data: bytes) -> None:
        self.bytes = (ctypes.c_char * len(data))(*data)
        self.address = ctypes.addressof(self.bytes)


def test_put_and_get(store: MooncakeDistributedStore) -> None:
    assert store.put("key", b"value") == 0
    assert store.put("key", b"other") == 0, "an existing key is success"
    assert store.get("key") == b"value", "and unchanged"
    assert store.get("none") == b""
    assert (store.get_size("key"), store.get_size("none")) == (5, -704)
    assert (store.is_exist("key"), store.is_exist("none")) == (1, 0)
    assert store.batch_is_exist(["none", "key", ""]) == [0, 1, -400]
    assert (store.put("empty", b""), store.get("empty"), store.get_size("empty")) == (0, b"", 0)
    assert store.put_batch(["a", "b"], [b"1", bytearray(b"2")]) == 0
    assert store.get_batch(["b", "none", "a"]) == [b"2", b"", b"1"]


@pytest.mark.parametrize("key", ["", "x" * 4097, "\udfff", b"\xff" * 0])
def test_a_wrong_key(store: MooncakeDistributedStore, key: str) -> None:
    assert store.put(key, b"") == store.get_size(key) == store.is_exist(key) == store.remove(key) == -400
    assert store.get(key) == b""
    assert store.put_batch(["fine", key], [b"", b""]) == -400
    assert store.is_exist("fine") == 1


def test_where_copies_are(store: MooncakeDistributedStore) -> None:
    store.put_batch(["a", "bb"], [b"1", b""])  # what the stand-in library has of no bytes is on an SSD
    found = store.batch_get_replica_desc(["a", "none", "bb", ""])
    assert list(found) == ["a", "bb"]
    [memory] = store.get_replica_desc("a")
    assert [memory] == found["a"] and memory.status == ReplicaStatus.COMPLETE
    assert (memory.is_memory_replica(), memory.is_disk_replica(), memory.is_local_disk_replica()) == (
        True,
        False,
        False,
    )
    buffer = memory.get_memory_descriptor().buffer_descriptor
    assert (buffer.size, buffer.buffer_address, buffer.transport_endpoint) == (1, 4096, "host:1")
    [ssd] = found["bb"]
    assert (ssd.is_memory_replica(), ssd.is_disk_replica(), ssd.is_local_disk_replica()) == (False, False, True)
    disk = ssd.get_local_disk_descriptor()
    assert (disk.object_size, disk.transport_endpoint) == (0, "host:2")
    for descriptor in (memory.get_local_disk_descriptor, memory.get_disk_descriptor, ssd.get_memory_descriptor):
        with pytest.raises(RuntimeError, match="this copy is not"):
            descriptor()
    assert store.get_replica_desc("none") == []


def test_through_an_agent_a_copy_is_of_no_kind() -> None:
    copy = ReplicaDescriptor()
    assert not (copy.is_memory_replica() or copy.is_disk_replica() or copy.is_local_disk_replica())
    with pytest.raises(RuntimeError, match="this copy is not in memory"):
        copy.get_memory_descriptor()


def test_no_copies_without_a_pool() -> None:
    closed = MooncakeDistributedStore()
    assert (closed.get_replica_desc("a"), closed.batch_get_replica_desc(["a"])) == ([], {})


def test_memory_by_address(store: MooncakeDistributedStore) -> None:
    memory = Memory(b"hello" + bytes(59))
    assert store.put_from("k", memory.address, 5) == -600
    assert store.get_into("k", memory.address, 5) == -600
    assert store.register_buffer(memory.address, 64) == 0
    assert store.register_buffer(memory.address, 64) == -600
    assert store.register_buffer(0, 64) == store.register_buffer(memory.address + 64, 0) == -600
    assert store.put_from("k", memory.address, 5) == 0
    assert store.batch_put_from(["l", "m"], [memory.address, memory.address + 63], [2, 2]) == [0, -600]
    assert store.get_into("k", memory.address + 10, 20) == 5
    assert store.get_into("none", memory.address, 20) == -704
    assert store.get_into("k", memory.address, 4) == -600, "too small"
    assert store.batch_get_into(["l", "none", "k"], [memory.address + 20] * 3, [9, 9, 9]) == [2, -704, 5]
    assert memory.bytes.raw[10:15] == b"hello"
    assert (store.unregister_buffer(memory.address), store.unregister_buffer(memory.address)) == (0, -600)
    assert store.get_into("k", memory.address, 20) == -600


def test_many_buffers_per_key(store: MooncakeDistributedStore) -> None:
    memory = Memory(b"hello, world" + bytes(52))
    at = memory.address
    assert store.batch_put_from_multi_buffers(["k"], [[at]], [[5]]) == [-600], "not registered"
    assert store.register_buffer(at, 64) == 0
    assert store.batch_put_from_multi_buffers(["k", "l"], [[at + 7, at], [at + 63]], [[5, 5], [2]]) == [0, -600]
    assert store.get("k") == b"worldhello"
    got = store.batch_get_into_multi_buffers(
        ["k", "none", "k"], [[at + 20, at + 30], [at], [at]], [[3, 7], [9], [4]], True
    )
    assert got == [10, -704, -600]
    assert (memory.bytes.raw[20:23], memory.bytes.raw[30:37]) == (b"wor", b"ldhello")
    assert store.batch_put_from_multi_buffers(["a", "b"], [[at]], [[1]]) == [-600, -600]
    assert store.batch_get_into_multi_buffers(["a"], [[at, at]], [[1]]) == [-600]


def test_many_buffers_are_filled_or_the_read_has_failed(
    store: MooncakeDistributedStore, caplog: pytest.LogCaptureFixture
) -> None:
    """The reference answers the value's length; engines take it for success, and compute with what the rest had before."""
    memory = Memory(b"hello, world" + bytes(52))
    assert (store.register_buffer(memory.address, 64), store.put("k", b"12345")) == (0, 0)
    pieces = [memory.address, memory.address + 9]
    assert store.batch_get_into_multi_buffers(["k", "k"], [pieces, pieces], [[2, 4], [2, 3]]) == [-600, 5]
    assert "1 of 2 keys failed, first 'k': -600 INVALID_PARAMS: the value has 5 bytes and its buffers 6" in caplog.text


def test_sglang_reads_whole_values_or_none(
    store: MooncakeDistributedStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It takes any length for a whole page. LMCache wants the length of chunks that are not full."""
    memory = Memory(bytes(64))
    assert (store.register_buffer(memory.address, 64), store.put("k", b"12345")) == (0, 0)
    reads = ["k", "none", "k"], [memory.address + at for at in (0, 10, 20)], [5, 5, 6]

    assert store.batch_get_into(*reads) == [5, -704, 5]
    connector = "sglang.srt.mem_cache.storage.mooncake_store.mooncake_store"
    monkeypatch.setitem(sys.modules, connector, ModuleType(connector))
    assert store.batch_get_into(*reads) == [5, -704, -600]
    assert "first 'k': -600 INVALID_PARAMS: the value has 5 bytes and its buffers 6" in caplog.text


def test_tables_of_different_lengths(store: MooncakeDistributedStore) -> None:
    assert store.batch_put_from(["a", "b"], [1], [1, 1]) == [-600, -600]
    assert store.batch_put_from(["a"], [1], []) == [-600]
    assert store.batch_get_into(["a", "b"], [1, 1], [1]) == [-600, -600]
    assert store.put_batch(["a", "b"], [b""]) == -600
    assert store.batch_get_into(["a"], [-1], [1]) == [-600]
    assert store.batch_put_from([], [], []) == store.batch_get_into([], [], []) == store.batch_is_exist([]) == []
    assert store.put_batch([], []) == 0


def test_remove(store: MooncakeDistributedStore, fake: Fake) -> None:
    fake.state.leases = 1
    store.put_batch(["a", "b", "c"], [b"1"] * 3)
    assert store.is_exist("a") == 1
    assert (store.remove("a"), store.remove("none"), store.remove("b")) == (-706, -704, 0)
    assert repr(store.batch_remove(["a", "none"], True)) == "[0, -704]"  # plain numbers
    store.put("d", b"1")
    assert store.get("d") == b"1"
    assert (store.remove_all(), store.remove_all(force=True), store.remove_all(True)) == (1, 1, 0)


def test_remove_by_regex(store: MooncakeDistributedStore, fake: Fake) -> None:
    fake.state.leases = 1
    store.put_batch(["a/1", "a/2", "b/1"], [b"1"] * 3)
    assert store.is_exist("a/1") == 1
    assert (store.remove_by_regex("^a/"), store.remove_by_regex("^a/", True)) == (1, 1)
    assert store.remove_by_regex("(") == -600
    assert store.batch_is_exist(["a/1", "a/2", "b/1"]) == [0, 0, 1]


CALLS: dict[str, tuple[int, Callable[[MooncakeDistributedStore, Memory], object]]] = {
    "put": (PUT, lambda s, m: s.put("k", b"")),
    "put_batch": (PUT, lambda s, m: s.put_batch(["k"], [b""])),
    "put_from": (PUT, lambda s, m: s.put_from("k", m.address, 1)),
    "batch_put_from": (PUT, lambda s, m: s.batch_put_from(["k"], [m.address], [1])[0]),
    "get_into": (GET, lambda s, m: s.get_into("k", m.address, 1)),
    "batch_get_into": (GET, lambda s, m: s.batch_get_into(["k"], [m.address], [1])[0]),
    "get_size": (EXISTS, lambda s, m: s.get_size("k")),
    "remove": (REMOVE, lambda s, m: s.remove("k")),
    "batch_remove": (REMOVE, lambda s, m: s.batch_remove(["k"])[0]),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("status", [status for status in Status if status])
def test_every_status_in_every_method(
    store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture, name: str, status: Status
) -> None:
    op, call = CALLS[name]
    memory = Memory(b"12345678")
    store.register_buffer(memory.address, 8)
    fake.fail(op, status, sentence="demo-0 (10.0.0.7:50061) said so")
    assert call(store, memory) == code_of(status)
    assert (status.name in caplog.text) == (status is not Status.NOT_FOUND)
    assert ("demo-0 (10.0.0.7:50061) said so" in caplog.text) == (status is not Status.NOT_FOUND)


@pytest.mark.parametrize("status", [status for status in Status if status])
def test_every_status_in_get_and_exists(store: MooncakeDistributedStore, fake: Fake, status: Status) -> None:
    store.put("k", b"v")
    fake.fail(GET, status, lines=100)
    assert store.get("k") == b""
    fake.fail(GET, status, lines=100)
    assert store.get_batch(["k", "l"]) == [b"", b""]
    fake.fail(EXISTS, status)
    absent = status in (Status.NOT_FOUND, Status.UNAVAILABLE, Status.BUSY)
    assert store.is_exist("k") == (0 if absent else code_of(status))


def test_a_failed_batch_names_count_and_first_key(
    store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    fake.fail(PUT, Status.NO_SPACE, lines=2, sentence="every node is full")
    assert store.put_batch(["a" * 200, "b", "c"], [b""] * 3) == -200
    assert "put: 2 of 3 keys failed, first 'aaaa" in caplog.text
    assert "NO_AVAILABLE_HANDLE: NO_SPACE: every node is full" in caplog.text
    assert len(caplog.text) < 400


def test_a_call_that_fails_as_a_whole(
    store: MooncakeDistributedStore, fake: Fake, caplog: pytest.LogCaptureFixture
) -> None:
    fake.state.submit_status = Status.QUEUE_FULL
    assert store.batch_is_exist(["a", "b"]) == [-200, -200]
    assert store.remove_all() == -200
    assert "QUEUE_FULL" in caplog.text


def test_before_setup(fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    store, memory = MooncakeDistributedStore(), Memory(b"1")
    for _, call in CALLS.values():
        assert call(store, memory) == -600
    assert store.batch_put_from(["a", "b"], [1, 1], [1, 1]) == [-600, -600]
    assert (store.get("k"), store.get_batch(["k", "l"])) == (b"", [b"", b""])
    assert (store.is_exist("k"), store.batch_is_exist(["k", "l"])) == (-600, [-600, -600])
    assert store.register_buffer(1, 1) == store.unregister_buffer(1) == store.remove_all() == -600
    assert "the store is not set up" in caplog.text


def test_python_errors_stay_python_errors(store: MooncakeDistributedStore) -> None:
    with pytest.raises(TypeError):
        store.put("k", "text")
    with pytest.raises(TypeError):
        store.put(7, b"")
    with pytest.raises(BufferError):
        store.put("k", memoryview(b"abcd")[::2])


def test_replicate_config_reaches_the_library(store: MooncakeDistributedStore, fake: Fake) -> None:
    config = ReplicateConfig()
    config.replica_num = 2
    config.preferred_segment = "demo-1"
    store.put("k", b"", config)
    assert fake.last_call[3:5] == ["2", "demo-1"]
    config.preferred_segments = ["demo-2"]
    store.put("k", b"", config)
    assert fake.last_call[4] == "demo-1", "one goes before a list"
    store.put_batch(["l"], [b""], ReplicateConfig(preferred_segments=["demo-2", "", "demo-3"]))
    assert fake.last_call[3:5] == ["0", "demo-2,demo-3"], "1 replica leaves the number to the pool"
    store.put_batch(["l"], [b""], ReplicateConfig(preferred_segments=[str(i) for i in range(20)]))
    assert fake.last_call[4].split(",") == [str(i) for i in range(16)]
    store.put("l", b"", ReplicateConfig())
    assert fake.last_call[4] == ""
    config.replica_num = 0
    assert store.put("m", b"", config) == -600


def test_a_preferred_segment_may_be_our_own_memory(fake: Fake) -> None:
    store = MooncakeDistributedStore()
    assert store.setup("10.0.0.5", "", 16 << 20, 1 << 20, "tcp", "", "m:1") == 0
    config = ReplicateConfig(preferred_segment=store.get_hostname(), prefer_alloc_in_same_node=True)
    store.put("k", b"", config)
    node = fake.last_call[4]
    assert node.startswith(store.get_hostname() + "-") and len(node) > len(store.get_hostname()) + 8
    store.put("k", b"", ReplicateConfig(preferred_segments=["other:1", store.get_hostname()]))
    assert fake.last_call[4] == f"other:1,{node}"
    assert store.batch_replica_clear(["k"], store.get_hostname()) == ["k"]
    assert fake.last_call[4] == node
    store.close()


def test_copies_on_a_segment_are_cleared(store: MooncakeDistributedStore, fake: Fake) -> None:
    store.put_batch(["a", "b", "c"], [b"1", b"2", b"3"])
    fake.fail(REMOVE, Status.HAS_LEASE)
    assert store.batch_replica_clear(["a", "b", "none"], "host:1") == ["b"]
    assert fake.last_call[4] == "host:1"
    assert store.batch_replica_clear(["c"]) == ["c"]
    assert fake.last_call[4] == ""
    assert MooncakeDistributedStore().batch_replica_clear(["a"], "host:1") == []


def test_a_config_has_the_defaults_of_the_reference() -> None:
    config = ReplicateConfig()
    assert (config.replica_num, config.soft_pin_action, config.with_hard_pin) == (1, SoftPinAction.PRESERVE, False)
    assert (config.soft_pin_ttl_ms, config.group_ids, config.preferred_segment) == (None, None, "")


PINS = slice(6, 8)  # of what the fake saw: the pins and soft_pin_ms


@pytest.mark.parametrize(
    ("fields", "pins"),
    [
        ({}, "4"),
        ({"with_hard_pin": True}, "6"),
        ({"soft_pin_action": SoftPinAction.DISABLE}, "0"),
        ({"soft_pin_action": SoftPinAction.ENABLE}, "1"),
        ({"with_soft_pin": True}, "1"),
    ],
)
def test_an_upsert_preserves_the_soft_pin_of_what_it_replaces(
    store: MooncakeDistributedStore, fake: Fake, fields: dict[str, Any], pins: str
) -> None:
    assert store.upsert("k", b"v", ReplicateConfig(**fields)) == 0
    assert fake.last_call[PINS][0] == pins
    assert store.put("other", b"v", ReplicateConfig(**fields)) == 0
    assert int(fake.last_call[PINS][0]) == int(pins) & 3, "a put replaces nothing"


@pytest.mark.parametrize(
    ("fields", "pins"),
    [
        ({}, ["0", "0"]),
        ({"with_hard_pin": True}, ["2", "0"]),
        ({"with_soft_pin": True}, ["1", "0"]),
        ({"soft_pin_action": SoftPinAction.ENABLE, "soft_pin_ttl_ms": 90_000}, ["1", "90000"]),
        ({"with_soft_pin": True, "soft_pin_ttl_ms": 24 * 3600 * 1000}, ["1", "86400000"]),
        ({"soft_pin_action": SoftPinAction.DISABLE, "with_soft_pin": True}, ["0", "0"]),
        ({"soft_pin_action": SoftPinAction.ENABLE, "soft_pin_ttl_ms": None}, ["1", "0"]),
        ({"soft_pin_action": SoftPinAction.ENABLE, "soft_pin_ttl_ms": 0}, ["0", "0"]),  # over at once
        ({"soft_pin_action": SoftPinAction.ENABLE, "with_hard_pin": True}, ["3", "0"]),
    ],
)
def test_pins_reach_the_library(store: MooncakeDistributedStore, fake: Fake, fields: dict, pins: list[str]) -> None:
    assert store.put("a", b"v", ReplicateConfig(**fields)) == 0
    assert fake.last_call[PINS] == pins


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"replica_num": 0}, "replica_num"),
        ({"replica_num": None}, "replica_num"),
        ({"replica_num": "2"}, "replica_num"),
        ({"soft_pin_action": SoftPinAction.ENABLE, "soft_pin_ttl_ms": "5"}, "soft_pin_ttl_ms"),
        ({"with_soft_pin": True, "soft_pin_ttl_ms": -1}, "soft_pin_ttl_ms"),
        ({"soft_pin_ttl_ms": 90_000}, "needs SoftPinAction.ENABLE"),
        ({"soft_pin_ttl_ms": 0}, "needs SoftPinAction.ENABLE"),
        ({"soft_pin_action": SoftPinAction.DISABLE, "with_soft_pin": True, "soft_pin_ttl_ms": 90_000}, "is DISABLE"),
        ({"with_soft_pin": True, "soft_pin_ttl_ms": 24 * 3600 * 1000 + 1}, "24 h"),
        ({"group_ids": ["a", "b", "c"]}, "2 keys but 3 group_ids"),
    ],
)
def test_a_config_that_cannot_be_is_refused_and_named(
    store: MooncakeDistributedStore, caplog: pytest.LogCaptureFixture, fields: dict, word: str
) -> None:
    assert store.put_batch(["a", "b"], [b"", b""], ReplicateConfig(**fields)) == -600
    assert word in caplog.text
    assert store.is_exist("a") == 0


def test_fields_of_none_are_defaults_and_what_is_no_config_is_refused(store: MooncakeDistributedStore) -> None:
    names = ("preferred_segment", "preferred_segments", "preferred_nof_segments", "group_ids", "soft_pin_ttl_ms")
    assert store.put("a", b"v", ReplicateConfig(**dict.fromkeys(names))) == store.put("b", b"v", None) == 0
    with pytest.raises(TypeError, match="must be a ReplicateConfig"):
        store.put("c", b"v", {"replica_num": 2})


def test_a_time_without_a_pin_fails_every_kind_of_put(store: MooncakeDistributedStore) -> None:
    config, memory = ReplicateConfig(soft_pin_ttl_ms=5000), Memory(b"value")
    at = memory.address
    assert store.register_buffer(at, 5) == store.put("there", b"1") == 0
    assert store.put("there", b"2", config) == -600, "whether or not the key exists"
    assert store.put("a", b"2", config) == store.upsert("a", b"2", config) == -600
    assert store.put_parts("a", b"2", config=config) == store.upsert_parts("a", b"2", config=config) == -600
    assert store.put_batch(["a", "b"], [b"2", b"3"], config) == store.upsert_batch(["a"], [b"2"], config) == -600
    assert store.put_from("a", at, 5, config) == store.upsert_from("a", at, 5, config) == -600
    assert store.batch_put_from(["a", "b"], [at, at], [5, 5], config) == [-600, -600]
    assert store.batch_put_from_multi_buffers(["a"], [[at]], [[5]], config) == [-600]
    assert (store.get("there"), store.batch_is_exist(["a", "b"])) == (b"1", [0, 0])


def test_without_staging_only_registered_memory_is_served(fake: Fake, caplog: pytest.LogCaptureFixture) -> None:
    """As with the reference, tried with 0.3.13.post1."""
    store, memory = MooncakeDistributedStore(), Memory(b"hello" + bytes(59))
    at = memory.address
    assert store.setup("10.0.0.5", "P2PHANDSHAKE", 0, 0, "tcp", "", "m:1") == 0
    assert store.put("a", b"1") == store.put("a", b"") == store.put_parts("a", b"1", b"2") == -600
    assert "put: all 1 keys failed: -600 INVALID_PARAMS: local_buffer_size is 0, so only registered" in caplog.text
    assert store.put_batch(["a", "b"], [b"1", b"2"]) == store.upsert("a", b"1") == store.upsert_parts("a", b"1") == -600
    assert store.upsert_batch(["a"], [b"1"]) == -600
    assert store.register_buffer(at, 64) == store.put_from("k", at, 5) == store.upsert_from("l", at, 5) == 0
    assert store.batch_put_from(["m"], [at], [5]) == store.batch_put_from_multi_buffers(["n"], [[at]], [[5]]) == [0]
    assert (store.get("k"), store.get_batch(["k", "l"])) == (b"", [b"", b""])
    assert (store.get_buffer("k"), store.batch_get_buffer(["k", "l"])) == (None, [None, None])
    assert store.get_into("k", at + 10, 9) == store.batch_get_into_multi_buffers(["n"], [[at + 20]], [[5]])[0] == 5
    assert memory.bytes.raw[10:15] == memory.bytes.raw[20:25] == b"hello"
    assert (store.batch_is_exist(["k", "a"]), store.get_size("k"), store.remove("k")) == ([1, 0], 5, 0)
    store.close()


def test_groups_reach_the_library(store: MooncakeDistributedStore, fake: Fake) -> None:
    keys, values = ["a", "b"], [b"1", b"2"]
    assert store.put_batch(keys, values, ReplicateConfig(group_ids=["x", "longer"])) == 0
    assert fake.last_call[8:] == ["1001", "1006"], "the library numbers them"
    assert store.put_batch(keys, values, ReplicateConfig(group_ids=["all"])) == 0
    assert fake.last_call[8:] == ["1003", "1003"]
    assert store.put_batch(keys, values) == 0
    assert fake.last_call[8:] == []


def test_an_upsert_replaces_and_a_put_does_not(store: MooncakeDistributedStore, fake: Fake) -> None:
    assert store.put("a", b"first") == store.put("a", b"second") == 0
    assert store.get("a") == b"first"
    assert store.upsert("a", b"third") == 0
    assert fake.last_call[2] == "4"
    assert store.get("a") == b"third"
    assert store.upsert_batch(["a", "b"], [b"4", b"5"]) == 0
    assert store.get_batch(["a", "b"]) == [b"4", b"5"]
    assert store.upsert_parts("a", b"one", bytearray(b"two"), memoryview(b"three")) == 0
    assert store.get("a") == b"onetwothree"
    assert store.put_parts("c", b"one", b"two") == 0
    assert store.get("c") == b"onetwo"


def test_parts_that_are_no_plain_bytes_are_refused(store: MooncakeDistributedStore) -> None:
    with pytest.raises(RuntimeError, match="part 1"):
        store.put_parts("a", b"fine", memoryview(b"1234").cast("I"))
    assert store.is_exist("a") == 0


def test_upsert_from_registered_memory(store: MooncakeDistributedStore) -> None:
    memory = ctypes.create_string_buffer(b"old-new-", 8)
    address = ctypes.addressof(memory)
    assert store.register_buffer(address, 8) == 0
    assert store.upsert_from("a", address, 4) == 0
    assert store.batch_upsert_from(["a", "b"], [address + 4, address], [4, 4]) == [0, 0]
    assert store.get_batch(["a", "b"]) == [b"new-", b"old-"]
    assert store.upsert_from("a", address + 6, 4) == -600, "beyond what was registered"
    assert store.get("a") == b"new-"


def test_fields_without_effect_are_accepted_and_said_once(
    store: MooncakeDistributedStore, caplog: pytest.LogCaptureFixture
) -> None:
    config = ReplicateConfig()
    config.nof_replica_num = config.dfs_replica_num = 1
    config.preferred_nof_segments = ["x"]
    config.data_type = ObjectDataType.KVCACHE
    config.prefer_alloc_in_same_node = True
    with caplog.at_level(logging.WARNING, "mooncake.store"):
        assert store.put("a", b"", config) == store.put("b", b"", config) == 0
    assert caplog.text.count("nof_replica_num is accepted but has no effect") == 1
    assert caplog.text.count("data_type is accepted but has no effect: nothing is decided") == 1
    assert caplog.text.count("prefer_alloc_in_same_node is accepted but has no effect: all buffers") == 1
    assert caplog.text.count("has no effect") == 5
    with pytest.raises(AttributeError):
        config.no_such_field = 1


def test_the_log_is_bounded() -> None:
    lines: list[str] = []
    logger = logging.getLogger("test.failures")
    logger.propagate = False
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger.addHandler(handler)
    now = [0.0]
    log = FailureLog(logger, clock=lambda: now[0])
    for _ in range(1000):
        log.write("get", -900, "1 of 1 keys failed", "m0:50051: connection refused")
        log.write("put", -200, "1 of 1 keys failed", "")
        now[0] += 0.002
    logger.removeHandler(handler)
    assert len(lines) == 4
    assert lines[0] == "get: 1 of 1 keys failed: -900 RPC_FAIL: m0:50051: connection refused"
    assert lines[1] == "put: 1 of 1 keys failed: -200 NO_AVAILABLE_HANDLE: no further reason"
    assert lines[2].endswith("connection refused (499 more of these in between)")


def test_a_store_that_is_dropped_closes(fake: Fake) -> None:
    for _ in range(100):
        store = MooncakeDistributedStore()
        assert store.setup("h", "", 16 << 20, 1 << 20, "tcp", "", "m:1") == 0
    del store
    gc.collect()
    assert (fake.state.clients, fake.state.nodes) == (0, 0)
