# SPDX-License-Identifier: Apache-2.0
"""mooncake.store against a real pool: parts of values, sessions, tensors and lent buffers."""

import ctypes
import random
import sys
import time

import numpy
import pytest
from conftest import open_store
from local_pool import OBJECT_LEASE_SECONDS, LocalPool
from torch_stand_in import stand_in_torch, tensor_of
from waiting import eventually

from mooncake.ranges.named_values import NamedValues
from mooncake.store import (
    BufferPool,
    EngramStore,
    EngramStoreConfig,
    MooncakeDistributedStore,
    ParallelAxis,
    ReadTarget,
    ReplicateConfig,
    TensorParallelism,
)
from mooncake.structured_object_store import MooncakeBundleTransfer, export_ref


class Memory:
    def __init__(self, store: MooncakeDistributedStore, size: int) -> None:
        self.bytes = (ctypes.c_char * size)()
        self.at = ctypes.addressof(self.bytes)
        assert store.register_buffer(self.at, size) == 0


def value_of(key: str, size: int) -> bytes:
    return random.Random(key).randbytes(size)


def test_any_parts_of_any_values(store: MooncakeDistributedStore, prefix: str) -> None:
    """Reads of both ways, tcp and shared memory, verify the value whole, whatever parts were asked for."""
    chance = random.Random(prefix)
    sizes = {f"{prefix}/{i}": chance.choice([0, 1, 100, 4096, 70_000, 3 << 20]) for i in range(20)}
    values = {key: value_of(key, size) for key, size in sizes.items()}
    assert store.put_batch(list(values), list(values.values())) == 0
    memory = Memory(store, 16 << 20)
    for _ in range(5):
        lists: list[list] = [[], [], [], [], []]
        at = 0
        for _ in range(3):
            keys = chance.choices([*sizes, f"{prefix}/none"], k=8)
            rows: list[list] = [[], [], []]
            for key in keys:
                size = sizes.get(key, 10)
                parts = [sorted(chance.randrange(size + 1) for _ in range(2)) for _ in range(chance.randrange(4))]
                rows[0].append([at + 50_000 * i for i in range(len(parts))])
                rows[1].append([begin for begin, _ in parts])
                rows[2].append([min(end - begin, 50_000) for begin, end in parts])
                at += 50_000 * len(parts)
            for to, one in zip(lists, [memory.at, keys, *rows], strict=True):
                to.append(one)
        answers = store.get_into_ranges(*lists)
        for _, keys, targets, offsets, lengths, got in zip(*lists, answers, strict=True):
            for key, *parts in zip(keys, targets, offsets, lengths, got, strict=True):
                for target, offset, length, code in zip(*parts, strict=True):
                    assert code == (length if key in values else -704)
                    if key in values:
                        assert memory.bytes[target : target + length] == values[key][offset : offset + length]


@pytest.mark.parametrize("protocol", ["tcp", "shm,tcp"])
def test_a_part_is_read_alone(pool: LocalPool, prefix: str, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KVPOOL_PROTOCOLS", protocol)
    store = open_store(pool)
    value = value_of(prefix, 3 << 20)
    memory = Memory(store, 1000)
    assert store.put(prefix, value) == 0
    before = store._pool.client.stats()["get_bytes"]
    offsets = [0, 1_000_001, len(value) - 100]
    answers = store.get_into_ranges([memory.at], [[prefix]], [[[0, 100, 200]]], [[offsets]], [[[100] * 3]])
    assert answers == [[[100] * 3]]
    assert memory.bytes[:300] == b"".join(value[at : at + 100] for at in offsets)
    assert store._pool.client.stats()["get_bytes"] - before < 1 << 20
    store.close()


def test_a_session_reads_one_value_layer_by_layer(
    pool: LocalPool, store: MooncakeDistributedStore, prefix: str
) -> None:
    """Removed by force or replaced in the middle: a value that is named is -707, one that is held goes on."""
    layers, size = 16, 20_000
    values = {f"{prefix}/{i}": value_of(f"{i}", layers * size) for i in range(6)}
    keys = list(values)
    assert store.put_batch(keys, list(values.values())) == 0
    assert store.batch_get_session_start([*keys, f"{prefix}/none"]) == [0] * 6 + [-704]
    names_them = isinstance(store._pool.get_sessions, NamedValues)
    before = store._pool.client.stats()["get_bytes"] if names_them else 0
    other = open_store(pool)
    memory = Memory(store, 6 * size)
    good = [size] * 6
    for layer in range(layers):
        if layer == layers // 2:
            assert other.batch_remove(keys[:2], force=True) == [0] * 2
            assert other.upsert(keys[2], b"another") == 0
            good = [-707] * 3 + [size] * 3 if names_them else good
        memory.bytes[:] = bytes(6 * size)
        pointers = [[memory.at + i * size, memory.at + i * size + 100] for i in range(6)]
        offsets = [[layer * size, layer * size + 100]] * 6
        answers = store.batch_get_into_multi_buffer_ranges(keys, pointers, [[100, size - 100]] * 6, offsets)
        assert answers == good
        for i, key in enumerate(keys):
            part = values[key][layer * size : (layer + 1) * size] if good[i] > 0 else bytes(size)
            assert memory.bytes[i * size : (i + 1) * size] == part
    if names_them:
        assert store._pool.client.stats()["get_bytes"] - before == sum(map(len, values.values())) * 9 // 12
        assert store.batch_get_session_start(keys[:3]) == [-704, -704, 0]
        assert store.batch_get_into_multi_buffer_ranges(keys[2:3], [[memory.at]], [[7]], [[0]]) == [7]
        assert memory.bytes[:7] == b"another"
    assert store.batch_get_session_end(keys) == 0
    other.close()


def test_reads_of_a_session_keep_its_value(pool: LocalPool, prefix: str) -> None:
    store, other = open_store(pool), open_store(pool)
    memory = Memory(store, 8)
    store.put(prefix, b"value")
    read = ([prefix], [[memory.at]], [[5]], [[0]])
    began = time.monotonic()
    assert store.batch_get_session_start([prefix]) == [0]
    time.sleep(0.7 * OBJECT_LEASE_SECONDS)
    assert store.batch_get_into_multi_buffer_ranges(*read) == [5]
    time.sleep(max(0.0, began + 1.2 * OBJECT_LEASE_SECONDS - time.monotonic()))
    assert other.remove(prefix) == -706, "the lease of the start is over, and the read prolonged it"
    for opened in (store, other):
        opened.close()


def test_a_value_put_together_in_a_session(pool: LocalPool, store: MooncakeDistributedStore, prefix: str) -> None:
    layers, size = 16, 20_000
    keys = [f"{prefix}/{i}" for i in range(4)]
    memory = Memory(store, 4 * size)
    reader = open_store(pool)
    assert store.batch_put_session_start(keys, [layers * size] * 4, ReplicateConfig(replica_num=2)) == [0] * 4
    for layer in reversed(range(layers)):
        memory.bytes[:] = value_of(f"{layer}", 4 * size)
        pointers, offsets = [[memory.at + i * size] for i in range(4)], [[layer * size]] * 4
        assert store.batch_put_from_multi_buffer_ranges(keys, pointers, [[size]] * 4, offsets) == [size] * 4
        assert reader.batch_is_exist(keys) == [0] * 4
    assert store.batch_put_session_end(keys) == [0] * 4
    for i, key in enumerate(keys):
        expected = b"".join(value_of(f"{layer}", 4 * size)[i * size : (i + 1) * size] for layer in range(layers))
        assert reader.get(key) == expected
    assert store.batch_put_session_start(keys, [1] * 4) == [-705] * 4
    reader.close()


def test_one_writer_at_a_time_and_one_that_is_gone_is_not_waited_for(pool: LocalPool, prefix: str) -> None:
    stores = [open_store(pool) for _ in range(2)]
    memories = [Memory(store, 8) for store in stores]
    for i, memory in enumerate(memories):
        memory.bytes[:] = bytes([i]) * 8
    first, second = stores
    assert first.batch_put_session_start([prefix], [8]) == [0]
    assert first.batch_put_from_multi_buffer_ranges([prefix], [[memories[0].at]], [[8]], [[0]]) == [8]
    assert second.batch_put_session_start([prefix], [8]) == [-705]
    first.close()
    eventually(lambda: second.batch_put_session_start([prefix], [8]) == [0], "the key is free again")
    assert second.is_exist(prefix) == 0
    assert second.batch_put_from_multi_buffer_ranges([prefix], [[memories[1].at]], [[8]], [[0]]) == [8]
    assert second.batch_put_session_end([prefix]) == [0]
    assert second.get(prefix) == b"\x01" * 8
    second.close()


@pytest.mark.parametrize("protocol", ["tcp", "shm,tcp"])
def test_parts_of_a_put_session_go_to_the_nodes(
    pool: LocalPool, prefix: str, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KVPOOL_PROTOCOLS", protocol)
    store = open_store(pool)
    size = 1 << 20
    memory = Memory(store, size)
    assert store.batch_put_session_start([prefix], [2 * size]) == [0]
    for half in range(2):
        memory.bytes[:] = value_of(f"{half}", size)
        before = store._pool.client.stats()["put_bytes"]
        row = ([prefix], [[memory.at]], [[size]], [[half * size]])
        assert store.batch_put_from_multi_buffer_ranges(*row) == [size]
        assert store._pool.client.stats()["put_bytes"] - before == size, "before the end"
    assert store.batch_put_session_end([prefix]) == [0]
    assert store.get(prefix) == value_of("0", size) + value_of("1", size)
    store.close()


def test_tensors(
    pool: LocalPool, store: MooncakeDistributedStore, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch = stand_in_torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    tensors = [tensor_of(torch, name, (8, 300)) for name in ("float32", "bfloat16", "float8_e4m3fn")]
    keys = [f"{prefix}/{i}" for i in range(3)]
    assert store.batch_put_tensor(keys, tensors) == [0] * 3
    reader = open_store(pool)
    assert reader.batch_get_tensor([*keys, prefix]) == [*tensors, None]
    assert store.put_tensor_with_tp(prefix, tensors[0], tp_size=4, split_dim=1) == 0
    assert [reader.get_tensor_with_tp(prefix, rank, 4) for rank in range(4)] == list(tensors[0].chunk(4, 1))
    reader.close()


def test_tensors_in_another_layout(
    pool: LocalPool, store: MooncakeDistributedStore, prefix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four ranks write, two others read, by rows and by columns: what they need, and not much more."""
    torch = stand_in_torch()
    monkeypatch.setitem(sys.modules, "torch", torch)
    tensor = tensor_of(torch, "complex128", (32, 1000))
    for rank, chunk in enumerate(tensor.chunk(4)):
        part = TensorParallelism([ParallelAxis("tp", rank, 4, 0)])
        assert store.put_tensor_with_parallelism(prefix, chunk, part) == 0
    reader = open_store(pool)
    before = reader._pool.client.stats()["get_bytes"]
    for dimension in range(2):
        for rank, expected in enumerate(tensor.chunk(2, dimension)):
            target = ReadTarget("shard", TensorParallelism([ParallelAxis("tp", rank, 2, dimension)]))
            found = reader.get_tensor_with_parallelism(prefix, target)
            assert bytes(found.memory) == bytes(expected.contiguous().memory)
    assert reader._pool.client.stats()["get_bytes"] - before < 2.1 * len(tensor.memory)
    size = 40 + len(tensor.memory)
    memory = Memory(store, size)
    whole = store.get_tensor_with_parallelism_into(prefix, memory.at, size, ReadTarget("full"))
    assert (whole.shape, memory.bytes.raw[40:]) == (tensor.shape, bytes(tensor.memory))
    reader.close()


def test_an_object_of_many_members(pool: LocalPool, store: MooncakeDistributedStore) -> None:
    array = numpy.frombuffer(value_of("array", 1_500_000), "uint16").reshape(750, 1000)
    ref = MooncakeBundleTransfer(store, default_chunk_bytes=400_000).put_object({"array": array, "text": b"text"})
    reader = open_store(pool)
    before = reader._pool.client.stats()["get_bytes"]
    objects = MooncakeBundleTransfer(reader)
    spec = objects.read_spec({"manifest_key": ref.manifest_key})
    found = objects.materialize(spec.slice_member("array", 0, 190, 210)).objects
    assert (found["array"] == array[190:210]).all() and found["text"] == b"text", "over the end of a chunk"
    assert reader._pool.client.stats()["get_bytes"] - before < 100_000
    for either in (reader, store):
        part = MooncakeBundleTransfer(either).materialize(spec.slice_member("array", 1, 10, 12))
        assert (part.objects["array"] == array[:, 10:12]).all()
    with pytest.raises(RuntimeError, match="cannot be removed: -706"):
        objects.remove_bundle(ref)
    reader.close()


def test_rows_of_a_batch(pool: LocalPool, store: MooncakeDistributedStore) -> None:
    ids = numpy.arange(400_000, dtype="int32").reshape(1000, 400)
    prompts = [{"prompt": f"row {row}" * (row % 9), "image": value_of(str(row), 700)} for row in range(1000)]
    writer = MooncakeBundleTransfer(store, default_chunk_bytes=300_000)
    first = writer.put({"batch": {"ids": ids}, "non_tensor_batch": {"prompt": prompts}})
    handle = export_ref(writer.append_dataproto_fields(first, {"reward": ids[:, 0]}, stage="default"))
    reader = open_store(pool)
    before = reader._pool.client.stats()["get_bytes"]
    found = MooncakeBundleTransfer(reader).get(handle, type="dict", rows=[999, 3, 4, 500])
    assert (found["ids"] == ids[[999, 3, 4, 500]]).all() and found["reward"].tolist() == [399_600, 1200, 1600, 200_000]
    assert found["prompt"] == [prompts[row] for row in (999, 3, 4, 500)]
    assert reader._pool.client.stats()["get_bytes"] - before < 40_000, "of 2.4 MB"
    whole = MooncakeBundleTransfer(store).get(handle, type="dict")
    assert (whole["ids"] == ids).all() and whole["prompt"] == prompts
    with pytest.raises(RuntimeError, match="cannot be removed: -706"):
        MooncakeBundleTransfer(reader).cleanup_dataproto(handle)
    reader.close()


def test_rows_of_tables_of_embeddings(pool: LocalPool, store: MooncakeDistributedStore) -> None:
    config = EngramStoreConfig()
    config.embedding_dim, config.table_vocab_sizes = 16, [20_000, 300]
    tables = [numpy.arange(size * 16, dtype="float32").reshape(size, 16) for size in config.table_vocab_sizes]
    EngramStore(3, config, store).populate(tables)
    reader = open_store(pool)
    before = reader._pool.client.stats()["get_bytes"]
    ids = numpy.array([[[19_999, 0], [7, 299]], [[7, 5], [0, 5]]])
    found = EngramStore(3, config, reader).lookup(ids)
    assert (found == numpy.stack([tables[head][ids[:, :, head]] for head in (0, 1)], axis=2)).all()
    assert reader._pool.client.stats()["get_bytes"] - before < 10_000, "of 1.3 MB"
    assert EngramStore(3, config, store).remove_from_store(force=True) == 2
    reader.close()


def test_buffers_that_are_lent(store: MooncakeDistributedStore, prefix: str) -> None:
    buffers = BufferPool(store, max_bytes=8 << 20)
    with buffers.acquire(100_000) as lease:
        lease.buffer[:] = value_of(prefix, 100_000)
        assert store.put_from(prefix, lease.ptr, 100_000) == 0
    with buffers.acquire(200_000) as lease:
        assert store.get_into(prefix, lease.ptr, 200_000) == 100_000
        assert bytes(lease.buffer[:100_000]) == value_of(prefix, 100_000)
    buffers.close()


def test_metadata_before_the_rest_and_clearing(store: MooncakeDistributedStore, prefix: str) -> None:
    memory = Memory(store, 100)
    memory.bytes[:8] = b"metadata"
    memory.bytes[8:12] = b"rest"
    assert store.put_from_with_metadata(prefix, memory.at + 8, memory.at, 4, 8) == 0
    assert store.get(prefix) == b"metadatarest"
    assert store.put_from_with_metadata(prefix + "/none", 0, 0, 0, 0) == 0
    assert store.get_size(prefix + "/none") == 0
    assert store.batch_replica_clear([prefix, prefix + "/never"]) == [], "a reader may still use it"
    assert store.put(prefix + "/x", b"v") == 0
    assert store.batch_replica_clear([prefix + "/x"], "no:1") == []
    assert store.batch_replica_clear([prefix + "/x", prefix + "/never"]) == [prefix + "/x"]
