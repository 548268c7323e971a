# SPDX-License-Identifier: Apache-2.0
"""mooncake.store against a real pool: what engines do, and what they do wrong."""

import ctypes
import logging
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator

import pytest
from conftest import ROOT, open_store
from local_pool import OBJECT_LEASE_SECONDS, SEGMENT_BYTES, LocalPool, free_ports
from waiting import eventually

import kvpool
from kvpool import Status
from mooncake.store import MooncakeDistributedStore, ReplicateConfig


def value_of(key: str, size: int) -> bytes:
    """A large one repeats a part whose length, a prime, no block of memory has."""
    part = random.Random(key).randbytes(min(size, 65_537))
    return (part * (size // 65_537 + 1))[:size]


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 4095, 4096, 65_537, 1 << 20, (8 << 20) + 13])
def test_one_client_reads_what_another_wrote(
    pool: LocalPool, store: MooncakeDistributedStore, prefix: str, size: int
) -> None:
    value = value_of(prefix, size)
    assert store.put(prefix, value) == 0
    reader = open_store(pool)
    assert reader.get_size(prefix) == size
    assert reader.get(prefix) == value
    assert reader.is_exist(prefix) == 1
    reader.close()


def test_the_first_put_of_a_key_wins(store: MooncakeDistributedStore, prefix: str) -> None:
    assert store.put(prefix, b"first") == 0
    assert store.put(prefix, b"second") == 0
    assert store.get(prefix) == b"first"


def test_an_upsert_replaces_at_once_and_leaves_no_wrong_bytes(
    pool: LocalPool, store: MooncakeDistributedStore, prefix: str
) -> None:
    reader = open_store(pool)
    values = [bytes([round_]) * (1000 + 500 * round_) for round_ in range(20)]
    for value in values:
        assert store.upsert(prefix, value) == 0
        assert reader.get(prefix) == value, "a reader whose lease is running sees the new value"
    assert store.put(prefix, b"too late") == 0
    assert reader.get(prefix) == values[-1]
    reader.close()


def test_concurrent_upserts_leave_one_whole_value(store: MooncakeDistributedStore, prefix: str) -> None:
    values = [bytes([writer]) * 50_000 for writer in range(6)]
    codes: list[int] = []
    threads = [threading.Thread(target=lambda v=value: codes.append(store.upsert(prefix, v))) for value in values]
    for thread in threads:
        thread.start()
    seen = [store.get(prefix) for _ in range(50)]
    for thread in threads:
        thread.join()
    assert codes == [0] * len(values)
    assert all(value in (b"", *values) for value in seen)
    assert store.get(prefix) in values


def test_a_full_pool_evicts_what_is_not_pinned_and_never_mixes_bytes(
    pool: LocalPool, store: MooncakeDistributedStore, prefix: str
) -> None:
    pinned = [f"{prefix}/pinned/{i}" for i in range(8)]
    config = ReplicateConfig(with_hard_pin=True)
    assert store.put_batch(pinned, [value_of(key, 20_000) for key in pinned], config) == 0
    size = pool.capacity_bytes // 64
    keys = [f"{prefix}/{i}" for i in range(160)]  # two and a half times what the pool holds
    codes = [store.put(key, value_of(key, size)) for key in keys]
    assert set(codes) <= {0, -200}
    assert codes.count(0) > 80, "older objects make room"
    found = store.get_batch(keys[-40:])
    for key, value in zip(keys[-40:], found, strict=True):
        assert value in (b"", value_of(key, size))
    assert sum(map(bool, found)) >= 20, "what was put last is still there"
    assert [store.get(key) for key in pinned] == [value_of(key, 20_000) for key in pinned]
    assert store.batch_is_exist(keys).count(0) > 60, "the flood was evicted instead"


def test_a_read_of_one_keeps_its_group(store: MooncakeDistributedStore, prefix: str) -> None:
    keys = [f"{prefix}/{i}" for i in range(4)]
    assert store.put_batch(keys, [b"v"] * 4, ReplicateConfig(group_ids=[prefix])) == 0
    assert store.get(keys[0]) == b"v"
    assert store.batch_remove(keys) == [-706] * 4
    assert store.batch_remove(keys, force=True) == [0] * 4


def test_what_is_not_there(store: MooncakeDistributedStore, prefix: str) -> None:
    assert store.get(prefix) == b""
    assert (store.is_exist(prefix), store.get_size(prefix), store.remove(prefix)) == (0, -704, -704)
    assert store.get_batch([prefix, prefix + "2"]) == [b"", b""]


@pytest.mark.parametrize(
    "key",
    ["", "x" * 4097, "x" * 10_240, "\ud800", b"\xff\xfe", b"\xc0\x80"],
    ids=["empty", "4097", "10 KiB", "surrogate", "not UTF-8", "overlong"],
)
def test_a_wrong_key(store: MooncakeDistributedStore, prefix: str, key: str | bytes) -> None:
    assert store.put(key, b"v") == store.get_size(key) == store.is_exist(key) == store.remove(key) == -400
    assert store.get(key) == b""
    assert store.put_batch([prefix, key], [b"v", b"v"]) == -400
    assert store.get(prefix) == b"v", "the pool goes on serving"


@pytest.mark.parametrize(
    "key", ["k", "x" * 4096, "ключ/鍵/🗝", "a b\tc\n", "a\0"], ids=["1", "4096", "utf8", "space", "nul"]
)
def test_a_strange_key(store: MooncakeDistributedStore, key: str) -> None:
    assert (store.put(key, b"v"), store.get(key)) == (0, b"v")


def test_a_key_that_begins_with_a_zero_byte_could_name_another_tenants(
    store: MooncakeDistributedStore, caplog: pytest.LogCaptureFixture
) -> None:
    assert (store.put("\0a\0k", b"v"), store.get("\0a\0k"), store.is_exist("\0a\0k")) == (-400, b"", -400)
    assert "INVALID_KEY" in caplog.text


def test_a_value_larger_than_any_segment(
    store: MooncakeDistributedStore, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert store.put(prefix, bytes(SEGMENT_BYTES + 1)) == -200
    assert "TOO_LARGE" in caplog.text
    assert store.put(prefix, b"small") == 0


def test_zero_copy(store: MooncakeDistributedStore, prefix: str) -> None:
    size, count = 16_384, 64
    memory = (ctypes.c_char * (2 * size * count))()
    base = ctypes.addressof(memory)
    keys = [f"{prefix}/{i}" for i in range(count)]
    for i, key in enumerate(keys):
        memory[i * size : (i + 1) * size] = value_of(key, size)
    sources = [base + i * size for i in range(count)]
    targets = [base + (count + i) * size for i in range(count)]
    assert store.batch_put_from(keys, sources, [size] * count) == [-600] * count, "not registered"
    assert store.register_buffer(base, len(memory)) == 0
    assert store.batch_put_from(keys, sources, [size] * count) == [0] * count
    assert store.batch_get_into([*keys, prefix], [*targets, base], [size] * (count + 1)) == [size] * count + [-704]
    assert memory[: size * count] == memory[size * count :]
    assert store.get_into(keys[3], base, size) == size
    assert memory[:size] == value_of(keys[3], size)
    assert store.get_into(keys[3], base, size - 1) == -600
    assert store.get_into(keys[3], base + len(memory) - 1, size) == -600
    assert store.unregister_buffer(base) == 0
    assert store.put_from(prefix + "x", base, 1) == -600


def test_a_batch_of_many_sizes(store: MooncakeDistributedStore, prefix: str) -> None:
    keys = [f"{prefix}/{i}" for i in range(1000)]
    values = [value_of(key, i * 37 % 9000) for i, key in enumerate(keys)]
    assert store.put_batch(keys, values) == 0
    assert store.batch_is_exist([*keys, prefix]) == [1] * len(keys) + [0]
    assert store.get_batch(keys) == values


def test_a_key_twice_in_a_batch(store: MooncakeDistributedStore, prefix: str) -> None:
    assert store.put_batch([prefix, prefix], [b"first", b"second"]) == 0
    assert store.get_batch([prefix, prefix]) == [b"first", b"first"]


def test_a_lease_holds_off_remove(store: MooncakeDistributedStore, prefix: str) -> None:
    store.put_batch([prefix + "a", prefix + "b", prefix + "c"], [b"v"] * 3)
    assert store.remove(prefix + "a") == 0, "a put leases nothing"
    assert store.is_exist(prefix + "b") == 1
    assert store.remove(prefix + "b") == -706
    assert store.remove(prefix + "b", force=True) == 0
    assert store.get(prefix + "c") == b"v"
    assert store.remove(prefix + "c") == -706
    eventually(lambda: store.remove(prefix + "c") == 0, f"a lease of {OBJECT_LEASE_SECONDS} s ended")
    assert store.batch_is_exist([prefix + "a", prefix + "b", prefix + "c"]) == [0, 0, 0]


def test_remove_all(store: MooncakeDistributedStore, prefix: str) -> None:
    store.remove_all(force=True)
    keys = [f"{prefix}/{i}" for i in range(10)]
    store.put_batch(keys, [b"v"] * 10)
    store.batch_is_exist(keys[:3])
    mine = re.escape(prefix)
    assert store.remove_by_regex(f"^{mine}/[3-5]$") == 3
    assert store.remove_by_regex(f"^{mine}/(0|6)$", force=True) == 2
    assert [store.remove_by_regex(pattern) for pattern in ("(", "(?=look)", "((a{99}){99}){99}", "x" * 1025)] == [
        -600
    ] * 4
    assert store.remove_all() == 3
    assert store.remove_all(force=True) == 2
    assert store.batch_is_exist(keys) == [0] * 10
    assert store.put_batch(keys, [b"w"] * 10) == 0
    assert store.get_batch(keys) == [b"w"] * 10


def test_threads(store: MooncakeDistributedStore, prefix: str) -> None:
    problems: list[str] = []

    def work(name: int) -> None:
        for i in range(60):
            key = f"{prefix}/{name}/{i}"
            code = store.put(key, value_of(key, 5000 + i))
            if code or store.get(key) != value_of(key, 5000 + i):
                problems.append(f"{key}: {code}")

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_memory_of_this_process_joins_and_leaves(
    pool: LocalPool, prefix: str, caplog: pytest.LogCaptureFixture
) -> None:
    before = pool.view()["capacityBytes"]
    store = open_store(pool, 64 << 20)
    eventually(lambda: pool.view()["capacityBytes"] > before, "the memory counts")
    ours = [node for node in pool.view()["nodes"] if node["transient"]]
    assert len(ours) == 1 and ours[0]["id"].startswith(store.get_hostname())
    assert store.put(prefix, b"here", ReplicateConfig(preferred_segment=store.get_hostname())) == 0
    other = open_store(pool)
    assert other.get(prefix) == b"here"
    eventually(
        lambda: [node["objects"] for node in pool.view()["nodes"] if node["transient"]] == [1], "it holds the object"
    )
    store.close()
    eventually(lambda: pool.view()["capacityBytes"] == before, "the memory left")
    assert (other.get(prefix), other.is_exist(prefix)) == (b"", 0)
    other.close()


def test_memory_joins_after_setup(pool: LocalPool, prefix: str) -> None:
    store = open_store(pool)
    [segment] = store.allocate_and_mount_segment(32 << 20)["segment_ids"]
    eventually(
        lambda: [node["state"] for node in pool.view()["nodes"] if node["id"] == segment] == ["ready"], "it counts"
    )
    assert store.put(prefix, b"here", ReplicateConfig(preferred_segment=segment)) == 0
    eventually(
        lambda: [node["objects"] for node in pool.view()["nodes"] if node["id"] == segment] == [1],
        "it holds the object",
    )
    assert store.unmount_and_free_segment([segment]) == 0
    eventually(lambda: store.is_exist(prefix) == 0, "the object left with it")
    store.close()


def test_memory_that_a_file_has(pool: LocalPool, prefix: str) -> None:
    def states(segment: str) -> list[str]:
        return [node["state"] for node in pool.view()["nodes"] if node["id"] == segment]

    store, size, value = open_store(pool), 16 << 20, b"in the file" * 1000
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        file.write(b"1" * size)
        file.truncate(2 * size)
        mounted = store.mount_segment(file.name, size, size)
        assert mounted["ret"] == 0
        [segment] = mounted["segment_ids"]
        eventually(lambda: states(segment) == ["ready"], "it counts")
        assert store.put(prefix, value, ReplicateConfig(preferred_segment=segment)) == 0
        assert store.get(prefix) == value
        file.seek(0)
        content = file.read()
        found = content.find(value, size), content.count(b"1", 0, size)
        assert found[0] > 0 and found[1] == size, "in its part of the file, and nowhere else"
        for wrong in ((size, size), (size, 4095), (3 * size,), (4096,)):
            assert store.mount_segment(file.name, *wrong)["ret"] < 0
        assert store.unmount_segment([segment]) == 0
        eventually(lambda: store.is_exist(prefix) == 0, "the object left with it")
        again = store.mount_segment(file.name, 2 * size)
        assert again["ret"] == 0
        os.truncate(file.name, size)
        eventually(lambda: states(again["segment_ids"][0]) != ["ready"], "a node whose file was cut off leaves")
    store.close()


def test_a_closed_store_holds_up_no_removal_of_what_it_held_a_copy_of(pool: LocalPool, prefix: str) -> None:
    stores = [open_store(pool, 64 << 20) for _ in range(2)]

    def ready() -> int:
        return len([node for node in pool.view()["nodes"] if node["transient"] and node["state"] == "ready"])

    eventually(lambda: ready() == 2, "both take part")
    keys = [f"{prefix}/{i}" for i in range(12)]
    for key in keys:
        assert stores[1].put(key, b"a value", ReplicateConfig(replica_num=2)) == 0
    stores[0].close()
    assert [stores[1].remove(key) for key in keys] == [0] * len(keys)
    assert [stores[1].is_exist(key) for key in keys] == [0] * len(keys)
    stores[1].close()


def test_a_port_where_nobody_listens(impatient: None, caplog: pytest.LogCaptureFixture) -> None:
    port = free_ports(1)
    with pytest.raises(kvpool.KvpoolError, match=f"127.0.0.1:{port}") as caught:
        kvpool.Client(f"127.0.0.1:{port}", ready_timeout=0.5)
    assert caught.value.status in (Status.CONNECT_FAILED, Status.TIMEOUT)
    with caplog.at_level(logging.ERROR, "mooncake.store"):
        code = MooncakeDistributedStore().setup("h", "", 0, 0, "tcp", "", f"127.0.0.1:{port}")
    assert code in (-900, -901)
    assert f"127.0.0.1:{port}" in caplog.text


def test_shared_memory_is_used_on_one_machine(pool: LocalPool, prefix: str) -> None:
    value = value_of(prefix, 100_000)
    with kvpool.Client(pool.masters) as client, kvpool.Client(pool.masters, protocols=["tcp"]) as remote:
        client.put(prefix, value)
        remote.put(prefix + "2", value)
        assert client.get(prefix) == remote.get(prefix) == client.get(prefix + "2") == value
        assert client.stats()["shm_bytes"] == 3 * len(value)
        assert remote.stats()["shm_bytes"] == 0
        assert remote.stats()["get_bytes"] == len(value)


def _run(pool: LocalPool, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "MOONCAKE_MASTER": pool.masters},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def emptied(pool: LocalPool) -> Iterator[None]:
    """For programs that leave objects in the pool."""
    yield
    store = open_store(pool)
    store.remove_all(force=True)
    store.close()


def test_the_example(pool: LocalPool, emptied: None) -> None:
    output = _run(pool, str(ROOT / "native/python/examples/put_get.py"), pool.masters)
    assert "get           b'hello, pool'" in output
    assert "get_into      40 b'block'" in output


def test_kvcheck(pool: LocalPool, emptied: None, prefix: str) -> None:
    kvcheck = str(ROOT / "e2e/images/client/kvcheck.py")
    assert _run(pool, kvcheck, "put", "--prefix", prefix).splitlines()[-1] == "put 100 of 100 objects"
    assert _run(pool, kvcheck, "get", "--prefix", prefix).splitlines()[-1] == "read back 100 of 100 objects"
    loaded = _run(pool, kvcheck, "load", "--prefix", prefix + "l", "--seconds", "2", "--size", "4096")
    assert "0 reads in between gave wrong bytes" in loaded
    spoilt = subprocess.run(
        [sys.executable, kvcheck, "get", "--prefix", prefix, "--seed", "8"],
        env={**os.environ, "MOONCAKE_MASTER": pool.masters},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert spoilt.returncode == 1
    assert "WRONG BYTES" in spoilt.stdout and spoilt.stdout.endswith("read back 0 of 100 objects\n")
