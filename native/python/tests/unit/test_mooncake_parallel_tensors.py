# SPDX-License-Identifier: Apache-2.0
"""mooncake.store: tensors that are stored in one layout and read in another."""

import ctypes
import random
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest
from conftest import GET, PUT, Fake
from torch_stand_in import Tensor, tensor_of
from unreadable import Unreadable

from kvpool import Status
from mooncake.store import MooncakeDistributedStore, ParallelAxis, ReadTarget, ReplicateConfig, TensorParallelism
from mooncake.tensors.shard_reads import ShardReads


@dataclass
class Partition:
    rank: int
    size: int
    split_dim: int


FULL = ReadTarget("full")


def tp(rank: int, size: int, split_dim: int | None = 0, *others: ParallelAxis) -> TensorParallelism:
    return TensorParallelism([ParallelAxis("tp", rank, size, split_dim), *others])


def part(*arguments: Any) -> ReadTarget:
    return ReadTarget("shard", tp(*arguments))


def put_parts(store: MooncakeDistributedStore, key: str, tensor: Tensor, size: int, dimension: int = 0) -> None:
    for rank, chunk in enumerate(tensor.chunk(size, dimension)):
        assert store.put_tensor_with_parallelism(key, chunk, tp(rank, size, dimension)) == 0


class Memory:
    def __init__(self, store: MooncakeDistributedStore, size: int = 4096) -> None:
        self.bytes = (ctypes.c_char * size)()
        self.at = ctypes.addressof(self.bytes)
        assert store.register_buffer(self.at, size) == 0


@pytest.mark.parametrize("stored", [1, 2, 4, 8])
@pytest.mark.parametrize("dimension", [0, 1])
def test_parts_in_any_layout(either: MooncakeDistributedStore, torch: ModuleType, stored: int, dimension: int) -> None:
    tensor = tensor_of(torch, "bfloat16", (8, 16, 3))
    put_parts(either, "k", tensor, stored, dimension)
    assert either.get_tensor_with_parallelism("k", FULL) == tensor
    for size in (1, 2, 3, 4, 8):
        for split_dim in (0, 1, 2) if size < 4 else (0, 1):
            got = either.batch_get_tensor_with_parallelism(
                ["k"] * size, [part(r, size, split_dim) for r in range(size)]
            )
            assert got == list(tensor.chunk(size, split_dim))
    assert either.get_tensor_with_parallelism("k", part(8, 9)) is None, "there is no such part"
    scratch = either._pool.scratch._kept
    assert either._pool._registered._lengths == {ctypes.addressof(scratch): len(scratch)}, "nothing is left registered"


def test_a_tensor_in_one_piece_is_read_in_parts(either: MooncakeDistributedStore, torch: ModuleType) -> None:
    tensor = tensor_of(torch, "float32", (4, 6))
    assert either.put_tensor_with_parallelism("k", tensor) == 0
    assert either.get_tensor_with_parallelism("k") == either.get_tensor("k") == tensor
    assert either.get_tensor_with_parallelism("k", ReadTarget()) == tensor
    assert either.get_tensor_with_parallelism("k", FULL) == tensor
    assert either.get_tensor_with_parallelism("k", part(1, 3, 1)) == tensor.chunk(3, 1)[1]


def test_it_is_the_layout_of_the_older_methods(either: MooncakeDistributedStore, torch: ModuleType) -> None:
    tensor = tensor_of(torch, "int8", (7, 4))
    assert either.put_tensor_with_tp("old", tensor, tp_size=3) == 0
    assert either.get_tensor_with_parallelism("old", FULL) == tensor, "parts of 3, 3 and 1 rows"
    assert either.get_tensor_with_parallelism("old", part(1, 2, 1)) == tensor.chunk(2, 1)[1]
    assert either.get_tensor_with_tp("old", 2, 3) == tensor.chunk(3)[2]
    assert either.get_tensor_with_tp("old", 1, 2) is None, "part 1 of 3, which is not part 1 of 2"
    put_parts(either, "new", tensor, 2, 1)
    assert either.batch_get_tensor_with_tp(["new", "old"], 1, 2) == [tensor.chunk(2, 1)[1], None]
    as_stored = ReadTarget("as_stored", tp(1, 2, 1))
    assert either.get_tensor_with_parallelism("new", as_stored) == tensor.chunk(2, 1)[1]
    memory = Memory(either)
    assert either.get_tensor_with_parallelism_into("new", memory.at, 4096, as_stored) == tensor.chunk(2, 1)[1]
    for other in (tp(1, 3, 1), tp(1, 2, 0)):
        target = ReadTarget("as_stored", other)
        assert either.get_tensor_with_parallelism("new", target) is None, "it was stored in another layout"
        assert either.get_tensor_with_parallelism_into("new", memory.at, 4096, target) is None


def test_axes_that_do_not_cut_name_a_tensor_of_their_own(either: MooncakeDistributedStore, torch: ModuleType) -> None:
    tensors = [tensor_of(torch, "int16", (4, 4), seed) for seed in range(4)]
    scopes = [
        [ParallelAxis("dp", 0, 2)],
        [ParallelAxis("dp", 1, 2)],
        [ParallelAxis("pp", 0, 2, stage_id=3), ParallelAxis("dp", 1, 2)],
        [ParallelAxis("ep", 1, 4, expert_id=7)],
    ]
    for scope, tensor in zip(scopes, tensors, strict=True):
        for rank in range(2):
            assert either.put_tensor_with_parallelism("k", tensor, tp(rank, 2, 1, *scope)) == 0, "cuts it out"
    for scope, tensor in zip(scopes, tensors, strict=True):
        turned = TensorParallelism([*reversed(scope), ParallelAxis("tp", 1, 2, 1)])
        assert either.get_tensor_with_parallelism("k", ReadTarget("shard", turned)) == tensor.chunk(2, 1)[1]
        assert either.get_tensor_with_parallelism("k", ReadTarget("full", turned)) == tensor
        assert either.get_tensor_with_parallelism("k", ReadTarget("full", TensorParallelism(scope))) == tensor
        assert either.get_tensor_with_parallelism("k", part(3, 4, 0, *scope)) == tensor.chunk(4)[3]
    assert either.get_tensor_with_parallelism("k", FULL) is None
    alone = TensorParallelism([ParallelAxis("dp", 1, 3)])
    assert either.put_tensor_with_parallelism("k", tensors[0], alone) == 0
    assert either.get_tensor_with_parallelism("k", ReadTarget("as_stored", alone)) == tensors[0]


def test_writers_that_cut_their_part_out(either: MooncakeDistributedStore, torch: ModuleType) -> None:
    tensor, other = tensor_of(torch, "float64", (4, 6)), tensor_of(torch, "float64", (4, 6), 1)
    for rank in range(3):
        partition = Partition(rank, 3, 1)
        assert either.put_tensor_with_parallelism("k", tensor, writer_partition=partition) == 0
        assert either.batch_put_tensor_with_parallelism(["l"], [other], writer_partitions=[partition]) == [0]
    targets = [FULL, part(1, 2, 1)]
    assert either.batch_get_tensor_with_parallelism(["k", "l"], targets) == [tensor, other.chunk(2, 1)[1]]
    for rank in range(3):
        assert either.upsert_tensor_with_parallelism("k", other, writer_partition=Partition(rank, 3, 1)) == 0
    assert either.get_tensor_with_parallelism("k", FULL) == other


def test_tensors_in_registered_memory(either: MooncakeDistributedStore, torch: ModuleType) -> None:
    memory, tensor = Memory(either), tensor_of(torch, "float32", (4, 6))
    either.put_tensor("whole", tensor)
    assert either.get_tensor_into("whole", memory.at, 4096) == tensor
    for rank in range(2):
        put = (memory.at, 304 + 96)  # with the header that callers of the reference count
        cut_out = tp(rank, 2, 1, ParallelAxis("dp", 0, 1))
        assert either.put_tensor_with_parallelism_from("scoped", *put, cut_out) == 0
        assert either.put_tensor_with_parallelism_from("written", *put, writer_partition=Partition(rank, 2, 0)) == 0
        assert either.put_tensor_with_parallelism_from("part", *put, tp(rank, 2, 0)) == 0, "it is the part"
    assert either.put_tensor_with_parallelism_from("plain", *put) == 0
    assert either.put_tensor_from("shorter", *put) == 0
    assert either.get_tensor("plain") == either.get_tensor("shorter") == tensor
    assert either.put_tensor_with_tp_from("all", *put, tp_rank=1, tp_size=3, split_dim=1) == 0
    targets = [ReadTarget("full", cut_out), FULL, FULL]
    assert either.batch_get_tensor_with_parallelism(["scoped", "written", "all"], targets) == [tensor] * 3
    assert either.get_tensor_with_parallelism("part", FULL).shape == (8, 6)
    spaces = [memory.at + 1000, memory.at + 2000, memory.at + 3000]
    targets = [part(1, 2, 1), FULL, ReadTarget()]
    got = either.batch_get_tensor_with_parallelism_into(["all", "all", "whole"], spaces, [88, 136, 200], targets)
    assert got == [tensor.chunk(2, 1)[1], tensor, tensor]
    memory.bytes[2040:2044] = b"abcd"
    assert got[1].elements()[0] == b"abcd", "it is a view of that memory"
    assert (
        either.upsert_tensor_with_parallelism_from("all", memory.at + 2000, 136, writer_partition=Partition(0, 3, 1))
        == 0
    )
    assert either.batch_upsert_tensor_with_parallelism_from(["plain"], [memory.at + 2000], [136]) == [0]
    assert either.get_tensor("plain") == got[1] == either.get_tensor_with_parallelism("all", FULL)


def test_memory_that_is_too_small_or_not_registered(
    either: MooncakeDistributedStore, torch: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    memory, tensor = Memory(either), tensor_of(torch, "float32", (4, 6))
    put_parts(either, "k", tensor, 2)
    outside = (ctypes.c_char * 4096)()
    spaces = [(memory.at, 135), (ctypes.addressof(outside), 4096), (memory.at + 4046, 136), (memory.at, -1), (0, 136)]
    addresses, sizes = zip(*spaces, strict=True)
    targets = [FULL] * len(spaces)
    assert either.batch_get_tensor_with_parallelism_into(["k"] * 5, addresses, sizes, targets) == [None] * 5
    assert outside.raw == bytes(4096)
    assert "a tensor of 136 bytes, but memory for 135" in caplog.text
    for address, size in [*spaces, (memory.at, 30), (memory.at, 4096)]:
        assert either.put_tensor_with_parallelism_from("x", address, size, tp(0, 2)) == -600
    assert either.put_tensor_with_parallelism_from("x", memory.at, 4096, writer_partition=Partition(0, 2, 0)) == -600
    assert either.batch_get_tensor_with_parallelism_into(["k"], [memory.at], [], [FULL]) == [None]
    assert either.batch_put_tensor_with_parallelism_from(["k"], [memory.at], []) == [-600]


def test_registered_memory_of_a_device_is_not_touched(
    either: MooncakeDistributedStore, torch: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    memory, tensor = Memory(either), tensor_of(torch, "float32", (4, 6))
    put_parts(either, "k", tensor, 2)
    assert either.put_tensor("whole", tensor) == 0
    with Unreadable(1 << 16) as device:
        assert either.register_buffer(device.address, device.size) == 0, "as the library does for an NPU's"
        for at in (device.address, device.address + 5000):
            assert either.put_tensor_from("x", at, 136) == either.upsert_tensor_from("whole", at, 136) == -600
            assert either.put_tensor_with_tp_from("x", at, 136, 0, 2) == -600
            assert either.put_tensor_with_parallelism_from("x", at, 136, tp(0, 2)) == -600
            assert either.put_tensor_with_parallelism_from("x", at, 136, writer_partition=Partition(0, 2, 0)) == -600
            assert either.batch_get_tensor_into(["whole"] * 2, [memory.at, at], [136] * 2) == [None] * 2
            assert either.get_tensor_with_parallelism_into("k", at, 4096, FULL) is None
            assert either.get_tensor_with_parallelism_into("whole", at, 4096) is None
        assert "is a device's" in caplog.text
        assert either.is_exist("x") == 0 and either.get_tensor("whole") == tensor
        assert either.unregister_buffer(device.address) == 0
        device.make_readable()
        assert either.register_buffer(device.address, device.size) == 0
        assert either.get_tensor_into("whole", device.address, 136) == tensor
        assert either.put_tensor_from("x", device.address, 136) == 0
        assert either.unregister_buffer(device.address) == 0


def test_parts_that_do_not_belong_together_are_refused(
    store: MooncakeDistributedStore, torch: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    tensor = tensor_of(torch, "int8", (8, 4))
    put_parts(store, "k", tensor, 4)
    for rank in range(2):
        assert store.upsert_tensor_with_parallelism("k", tensor.chunk(2)[rank], tp(rank, 2)) == 0
    assert store.get_tensor_with_parallelism("k", FULL) == tensor, "as part 0 says, there are two parts"
    assert store.get_tensor_with_parallelism("k", part(3, 4)) == tensor.chunk(4)[3], "of the new ones"
    assert store.upsert_tensor_with_parallelism("k", tensor.chunk(4)[0], tp(0, 4)) == 0
    assert store.get_tensor_with_parallelism("k", FULL) is None
    assert "are parts of different tensors" in caplog.text
    for rank, rows in enumerate([3, 3, 2]):
        assert store.put_tensor_with_parallelism("uneven", tensor_of(torch, "int8", (rows, 1)), tp(rank, 3)) == 0
    assert store.get_tensor_with_parallelism("uneven", FULL) is None, "each takes all to be as large as itself"
    store.put("uneven_tp_2", b"")
    store.upsert("k_tp_1", b"no tensor")
    assert store.get_tensor_with_parallelism("k", FULL) is None


def test_parts_that_are_missing(store: MooncakeDistributedStore, torch: ModuleType, fake: Fake) -> None:
    tensor = tensor_of(torch, "int8", (8, 4))
    put_parts(store, "k", tensor, 4)
    assert store.remove("k_tp_0") == 0
    targets = [FULL, part(3, 4), part(1, 2), part(0, 2), part(3, 4, 1)]
    half = tensor.chunk(2)[1]
    assert store.batch_get_tensor_with_parallelism(["k"] * 5, targets) == [None, tensor.chunk(4)[3], half, None, None]
    fake.fail(GET, Status.UNAVAILABLE, lines=3)
    assert store.get_tensor_with_parallelism("k", part(3, 4)) is None
    assert store.get_tensor_with_parallelism("k", part(3, 4)) == tensor.chunk(4)[3]
    fake.state.submit_status = Status.QUEUE_FULL
    assert store.get_tensor_with_parallelism("k", part(3, 4)) is None
    fake.state.submit_status = 0


def test_a_part_that_is_replaced_between_its_header_and_its_elements(
    store: MooncakeDistributedStore,
    torch: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tensor, other = tensor_of(torch, "int8", (8, 4)), tensor_of(torch, "int8", (8, 4), 1)
    put_parts(store, "k", tensor, 2)
    fetch = ShardReads.fetch

    def fetch_late(reads: ShardReads, *arguments: Any) -> list[int]:
        store.upsert_tensor_with_parallelism("k", other.chunk(2)[1], tp(1, 2))
        return fetch(reads, *arguments)

    monkeypatch.setattr(ShardReads, "fetch", fetch_late)
    assert store.get_tensor_with_parallelism("k", FULL) is None
    assert "-707" in caplog.text
    assert store.get_tensor_with_parallelism("k", part(0, 2)) == tensor.chunk(2)[0]


def test_layouts_that_cannot_be(store: MooncakeDistributedStore, torch: ModuleType) -> None:
    tensor = tensor_of(torch, "int8", (4, 4))
    put_parts(store, "k", tensor, 2)
    wrong: list[Any] = [
        TensorParallelism(),
        TensorParallelism([ParallelAxis()]),
        TensorParallelism([ParallelAxis("tp", 0, 2)]),
        TensorParallelism([ParallelAxis("tp", 0, 2, 2)]),
        TensorParallelism([ParallelAxis("tp", 0, 2, -1)]),
        TensorParallelism([ParallelAxis("tp", 0, 2, 0), ParallelAxis("tp", 1, 2, 0)]),
        tp(2, 2),
        tp(-1, 2),
        tp(0, 0),
        tp(0, 1 << 40),
        TensorParallelism([ParallelAxis("pp", 0, 2)]),
        TensorParallelism([ParallelAxis("ep", 0, 2)]),
        TensorParallelism([ParallelAxis("dp", 0, 2, 0)]),
        TensorParallelism([ParallelAxis("dp", "0", 2)]),
        TensorParallelism("tp"),
        "tp",
        {"axes": []},
    ]
    layouts = [*wrong, tp(0, 2)]
    keys, codes = [f"x{number}" for number in range(len(layouts))], [-600] * len(wrong)
    assert store.batch_put_tensor_with_parallelism(keys, [tensor] * len(keys), layouts) == [*codes, 0]
    targets = [*(ReadTarget("shard", one) for one in wrong), FULL]
    assert store.batch_get_tensor_with_parallelism(["k"] * len(keys), targets) == [*[None] * len(wrong), tensor]


def test_requests_that_are_wrong(store: MooncakeDistributedStore, torch: ModuleType, fake: Fake) -> None:
    tensor = tensor_of(torch, "int8", (4, 6))
    put, scoped = store.put_tensor_with_parallelism, ParallelAxis("dp", 0, 2)
    for target in (ReadTarget("whole"), ReadTarget("shard"), "full"):
        assert store.get_tensor_with_parallelism("k", target) is None
    assert put("x", tensor, tp(0, 4, 1, scoped)) == -600, "not divisible"
    assert put("x", tensor, tp(0, 2, 2, scoped)) == -600
    assert put("x", tensor, writer_partition=Partition(0, 4, 1)) == -600
    for partition in (Partition(2, 2, 0), Partition(0, 2, None), "01", (0, 2, 0)):
        assert put("x", tensor, writer_partition=partition) == -600
    assert put("x", tensor, tp(0, 2), writer_partition=Partition(0, 2, 0)) == -600
    assert put("x", None, tp(0, 2)) == put("x", "no tensor", writer_partition=Partition(0, 2, 0)) == -600
    assert store.batch_put_tensor_with_parallelism(["x"], [tensor], [None, None]) == [-600]
    assert store.batch_put_tensor_with_parallelism(["x"], []) == [-600]
    assert store.batch_put_tensor_with_parallelism(["x"], [tensor], writer_partitions=[]) == [-600]
    assert store.batch_get_tensor_with_parallelism(["x", "y"], [FULL]) == [None, None]
    assert store.batch_get_tensor_with_parallelism([]) == store.batch_put_tensor_with_parallelism([], []) == []
    assert store.is_exist("x") == 0
    config = ReplicateConfig(group_ids=["1", "12", "123"])
    layouts = [tp(0, 2), tp(2, 2), None]
    assert store.batch_put_tensor_with_parallelism(["a", "b", "c"], [tensor] * 3, layouts, config) == [0, -600, 0]
    assert fake.last_call[8:] == ["1001", "1003"], "each with its own group"
    fake.fail(PUT, Status.NO_SPACE)
    assert store.batch_upsert_tensor_with_parallelism(["a", "c"], [tensor] * 2, [tp(0, 2), None]) == [-200, 0]


@pytest.mark.parametrize("seed", range(12))
def test_any_layout_of_any_tensor(either: MooncakeDistributedStore, torch: ModuleType, seed: int) -> None:
    chance = random.Random(seed)
    shape = tuple(chance.choice([1, 2, 4, 6]) for _ in range(chance.randrange(1, 5)))
    tensor = tensor_of(torch, chance.choice(["int8", "float16", "complex64"]), shape, seed)
    dimension = chance.randrange(len(shape))
    put_parts(either, "k", tensor, chance.choice([n for n in (1, 2, 3, 4) if shape[dimension] % n == 0]), dimension)
    for _ in range(4):
        dimension = chance.randrange(len(shape))
        chunks = tensor.chunk(chance.randrange(1, 5), dimension)
        rank, size = chance.randrange(len(chunks)), len(chunks)
        chunks = tensor.chunk(size, dimension)
        if rank < len(chunks):
            assert either.get_tensor_with_parallelism("k", part(rank, size, dimension)) == chunks[rank]
    assert either.get_tensor_with_parallelism("k", FULL) == tensor


def test_without_a_pool(torch: ModuleType, fake: Fake) -> None:
    store, tensor = MooncakeDistributedStore(), tensor_of(torch, "int8", (2,))
    assert store.put_tensor_with_parallelism("k", tensor, tp(0, 2)) == -600
    assert store.put_tensor_with_parallelism_from("k", 1, 1, tp(0, 2)) == -600
    assert store.put_tensor_with_tp_from("k", 1, 1, 0, 2) == -600
    assert store.get_tensor_with_parallelism("k") is store.get_tensor_with_parallelism("k", FULL) is None
    assert store.batch_get_tensor_with_parallelism_into(["k"] * 2, [1] * 2, [1] * 2, [FULL, None]) == [None, None]
