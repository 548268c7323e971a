# SPDX-License-Identifier: Apache-2.0
"""The methods of a store for tensors that are stored in one layout and read in another."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from mooncake.answers.error_code import ErrorCode, Refusal
from mooncake.connection.pool import Pool
from mooncake.memory.pages import zeroed_pages
from mooncake.methods.store_calls import INVALID_PARAMS
from mooncake.methods.tensor_methods import TensorMethods
from mooncake.methods.tensor_values import Value, header_at, part_at, value_at, value_of
from mooncake.replicas.replicate_config import ReplicateConfig
from mooncake.tensors.parallelism import (
    Place,
    ReadTarget,
    TensorParallelism,
    place_of,
    place_of_partition,
    place_of_target,
)
from mooncake.tensors.shard_reads import ShardPlan, ShardReads
from mooncake.tensors.shards import Shard

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found, unused-ignore]

Space = tuple[int, int]  # address and bytes


class ParallelTensorMethods(TensorMethods):
    """Tensors that many ranks write, each its part, and that as many or others read, each the part that it needs.

    A part says of which tensor it is, so a reader needs to know only its own layout. Reads take from each stored part what
    they need of it, verified, and refuse parts that do not belong together.
    """

    # ---- put, and upsert

    def put_tensor_with_parallelism(
        self,
        key: str,
        tensor: torch.Tensor,
        parallelism: TensorParallelism | None = None,
        config: ReplicateConfig | None = None,
        writer_partition: Any = None,
    ) -> int:
        """Stores a tensor, or a part of one.

        With an axis "tp" alone, `tensor` is the part, and all parts are equally large. With further axes, or a
        writer_partition, it is the whole tensor, of which the part is cut out; it must be divisible.

        Args:
            parallelism: which part; None for a whole tensor.
            writer_partition: instead of it, whatever has `rank`, `size` and `split_dim`.

        Returns:
            0 or negative; -600 for a part that cannot be.
        """
        given = (None if parallelism is None else [parallelism], config, _list_of(writer_partition))
        return self.batch_put_tensor_with_parallelism([key], [tensor], *given)[0]

    def batch_put_tensor_with_parallelism(
        self,
        keys: Sequence[str],
        tensors_list: Sequence[torch.Tensor],
        parallelisms: Sequence[TensorParallelism | None] | None = None,
        config: ReplicateConfig | None = None,
        writer_partitions: Sequence[Any] | None = None,
    ) -> list[int]:
        """put_tensor_with_parallelism() for many keys: the code of each."""
        layouts = (parallelisms, writer_partitions)
        return self._put_in_parts("put_tensor_with_parallelism", keys, tensors_list, layouts, config, upsert=False)

    def upsert_tensor_with_parallelism(
        self,
        key: str,
        tensor: torch.Tensor,
        parallelism: TensorParallelism | None = None,
        config: ReplicateConfig | None = None,
        writer_partition: Any = None,
    ) -> int:
        """put_tensor_with_parallelism(), in place of what that part has. 0 or negative."""
        given = (None if parallelism is None else [parallelism], config, _list_of(writer_partition))
        return self.batch_upsert_tensor_with_parallelism([key], [tensor], *given)[0]

    def batch_upsert_tensor_with_parallelism(
        self,
        keys: Sequence[str],
        tensors_list: Sequence[torch.Tensor],
        parallelisms: Sequence[TensorParallelism | None] | None = None,
        config: ReplicateConfig | None = None,
        writer_partitions: Sequence[Any] | None = None,
    ) -> list[int]:
        """upsert_tensor_with_parallelism() for many keys: the code of each."""
        layouts = (parallelisms, writer_partitions)
        return self._put_in_parts("upsert_tensor_with_parallelism", keys, tensors_list, layouts, config, upsert=True)

    # ---- put of tensors that lie in registered memory, each with its header before it

    def put_tensor_with_parallelism_from(
        self,
        key: str,
        buffer_ptr: int,
        size: int,
        parallelism: TensorParallelism | None = None,
        config: ReplicateConfig | None = None,
        writer_partition: Any = None,
    ) -> int:
        """put_tensor_with_parallelism() of a tensor in registered memory, as get_tensor_into() leaves it. 0 or negative."""
        given = (None if parallelism is None else [parallelism], config, _list_of(writer_partition))
        return self.batch_put_tensor_with_parallelism_from([key], [buffer_ptr], [size], *given)[0]

    def batch_put_tensor_with_parallelism_from(
        self,
        keys: Sequence[str],
        buffer_ptrs: Sequence[int],
        sizes: Sequence[int],
        parallelisms: Sequence[TensorParallelism | None] | None = None,
        config: ReplicateConfig | None = None,
        writer_partitions: Sequence[Any] | None = None,
    ) -> list[int]:
        """put_tensor_with_parallelism_from() for many keys: the code of each."""
        method, layouts = "put_tensor_with_parallelism_from", (parallelisms, writer_partitions)
        return self._put_in_parts_from(method, keys, buffer_ptrs, sizes, layouts, config, upsert=False)

    def upsert_tensor_with_parallelism_from(
        self,
        key: str,
        buffer_ptr: int,
        size: int,
        parallelism: TensorParallelism | None = None,
        config: ReplicateConfig | None = None,
        writer_partition: Any = None,
    ) -> int:
        """put_tensor_with_parallelism_from(), in place of what that part has. 0 or negative."""
        given = (None if parallelism is None else [parallelism], config, _list_of(writer_partition))
        return self.batch_upsert_tensor_with_parallelism_from([key], [buffer_ptr], [size], *given)[0]

    def batch_upsert_tensor_with_parallelism_from(
        self,
        keys: Sequence[str],
        buffer_ptrs: Sequence[int],
        sizes: Sequence[int],
        parallelisms: Sequence[TensorParallelism | None] | None = None,
        config: ReplicateConfig | None = None,
        writer_partitions: Sequence[Any] | None = None,
    ) -> list[int]:
        """upsert_tensor_with_parallelism_from() for many keys: the code of each."""
        method, layouts = "upsert_tensor_with_parallelism_from", (parallelisms, writer_partitions)
        return self._put_in_parts_from(method, keys, buffer_ptrs, sizes, layouts, config, upsert=True)

    # ---- get

    def get_tensor_with_parallelism(self, key: str, target: ReadTarget | None = None) -> torch.Tensor | None:
        """The tensor, or the part of it, that `target` says, in memory of its own; without a target what put_tensor() stored.

        A part of a tensor is read from whatever parts it was stored in, or from the whole: along another dimension, too. None
        when bytes of it are missing, or its parts are of different tensors (the log tells).
        """
        return self.batch_get_tensor_with_parallelism([key], None if target is None else [target])[0]

    def batch_get_tensor_with_parallelism(
        self, keys: Sequence[str], targets: Sequence[ReadTarget | None] | None = None
    ) -> list[torch.Tensor | None]:
        """get_tensor_with_parallelism() for many keys, in order."""
        return self._get_in_parts("get_tensor_with_parallelism", keys, None, targets)

    def get_tensor_with_parallelism_into(
        self, key: str, buffer_ptr: int, size: int, target: ReadTarget | None = None
    ) -> torch.Tensor | None:
        """get_tensor_with_parallelism() into registered memory, header and elements; a view of that memory, which the caller
        keeps for as long as the tensor is used. None also when `size` is too small."""
        targets = None if target is None else [target]
        return self.batch_get_tensor_with_parallelism_into([key], [buffer_ptr], [size], targets)[0]

    def batch_get_tensor_with_parallelism_into(
        self,
        keys: Sequence[str],
        buffer_ptrs: Sequence[int],
        sizes: Sequence[int],
        targets: Sequence[ReadTarget | None] | None = None,
    ) -> list[torch.Tensor | None]:
        """get_tensor_with_parallelism_into() for many keys, in order."""
        method = "get_tensor_with_parallelism_into"
        if not len(keys) == len(buffer_ptrs) == len(sizes):
            self._refuse(method, len(keys), f"{len(keys)} keys, {len(buffer_ptrs)} addresses and {len(sizes)} sizes")
            return [None] * len(keys)
        return self._get_in_parts(method, keys, list(zip(buffer_ptrs, sizes, strict=True)), targets)

    # ---- inside

    def _put_in_parts(
        self,
        method: str,
        keys: Sequence[str],
        tensors: Sequence[torch.Tensor],
        layouts: _Layouts,
        config: ReplicateConfig | None,
        upsert: bool,
    ) -> list[int]:
        problem = _mismatch(keys, tensors, layouts)
        if problem is not None:
            return self._refuse(method, len(keys), problem)

        def make(number: int) -> list[Value]:
            place, is_part = _layout(keys[number], number, layouts)
            return [(place.stored_key, _part_of(tensors[number], place, is_part))]

        return self._put_made(method, keys, make, config, upsert)

    def _put_in_parts_from(
        self,
        method: str,
        keys: Sequence[str],
        addresses: Sequence[int],
        sizes: Sequence[int],
        layouts: _Layouts,
        config: ReplicateConfig | None,
        upsert: bool,
    ) -> list[int]:
        problem = _mismatch(keys, addresses, layouts)
        if problem is not None:
            return self._refuse(method, len(keys), problem)

        def make(pool: Pool, number: int) -> list[Value]:
            place, is_part = _layout(keys[number], number, layouts)
            header = header_at(pool, addresses[number], sizes[number])
            if place.cut is None or is_part:
                shard = None if place.cut is None else _shard_of_part(header.shape, place)
                return [(place.stored_key, value_at(pool, addresses[number], header, shard))]
            _check_divisible(header.shape, place)
            return [(place.stored_key, part_at(pool, addresses[number], header, place.cut))]

        return self._put_from_memory(method, keys, addresses, sizes, make, config, upsert)

    def _get_in_parts(
        self,
        method: str,
        keys: Sequence[str],
        spaces: Sequence[Space] | None,
        targets: Sequence[ReadTarget | None] | None,
    ) -> list[torch.Tensor | None]:
        if targets is not None and len(targets) != len(keys):
            self._refuse(method, len(keys), f"{len(keys)} keys but {len(targets)} targets")
            return [None] * len(keys)
        stored: dict[int, Place] = {}
        places: dict[int, Place] = {}
        for number, key in enumerate(keys):
            try:
                mode, place = place_of_target(key, None if targets is None else targets[number])
            except ValueError as problem:
                self._failed(method, INVALID_PARAMS, key, problem)
                continue
            if mode == "as_stored":
                stored[number] = place
            else:
                places[number] = place
        found: dict[int, torch.Tensor | None] = {}
        if stored:
            found.update(zip(stored, self._get_stored(list(stored.values()), _chosen(spaces, stored)), strict=True))
        if places:
            wanted = list(places.values())
            read = self._get_put_together(method, [keys[number] for number in places], wanted, _chosen(spaces, places))
            found.update(zip(places, read, strict=True))
        return [found.get(number) for number in range(len(keys))]

    def _get_stored(self, places: Sequence[Place], spaces: Sequence[Space] | None) -> list[torch.Tensor | None]:
        keys = [place.stored_key for place in places]
        layouts = [None if place.cut is None else (place.cut.size, place.cut.dimension) for place in places]
        if spaces is None:
            return self._get_tensors(keys, layouts)
        addresses, sizes = [address for address, _ in spaces], [size for _, size in spaces]
        return self._get_tensors_into(keys, addresses, sizes, layouts)

    def _get_put_together(
        self, method: str, keys: Sequence[str], places: Sequence[Place], spaces: Sequence[Space] | None
    ) -> list[torch.Tensor | None]:
        memory: dict[int, ctypes.Array[ctypes.c_char]] = {}

        def read(pool: Pool) -> Sequence[int]:
            with ShardReads.begin(pool.new_get_sessions(), pool.scratch) as reads, ExitStack() as until_read:
                answers: list[int] = []
                plans: dict[int, ShardPlan] = {}
                for number, plan in enumerate(reads.plan(places)):
                    space = None if spaces is None else spaces[number]
                    taken = plan if isinstance(plan, int) else _take(pool, plan, space, until_read)
                    answers.append(taken if isinstance(taken, int) else 0)
                    if not isinstance(taken, int) and isinstance(plan, ShardPlan):
                        plans[number], memory[number] = plan, taken
                fetched = reads.fetch(list(plans.values()), [ctypes.addressof(memory[number]) for number in plans])
                for number, answer in zip(plans, fetched, strict=True):
                    answers[number] = answer
                return answers

        codes = self._for_each(method, keys, read)
        return [
            self._tensor(key, memory.get(at) if code >= 0 else None)
            for at, (key, code) in enumerate(zip(keys, codes, strict=True))
        ]


# Parallelisms, or writers' partitions.
_Layouts = tuple[Sequence[TensorParallelism | None] | None, Sequence[Any] | None]


def _list_of(partition: Any) -> list[Any] | None:
    return None if partition is None else [partition]


def _chosen(spaces: Sequence[Space] | None, numbers: dict[int, Any]) -> list[Space] | None:
    return None if spaces is None else [spaces[number] for number in numbers]


def _mismatch(keys: Sequence[str], values: Sequence[Any], layouts: _Layouts) -> str | None:
    parallelisms, partitions = layouts
    if parallelisms is not None and partitions is not None:
        return "a writer_partition and a parallelism were given, but one of them says which part it is"
    lists = {"tensors": values, "parallelisms": parallelisms, "writer_partitions": partitions}
    wrong = [f"{len(given)} {name}" for name, given in lists.items() if given is not None and len(given) != len(keys)]
    return f"{len(keys)} keys but {' and '.join(wrong)}" if wrong else None


def _layout(key: str, number: int, layouts: _Layouts) -> tuple[Place, bool]:
    """Where it is stored, and whether what is given is the part itself. ValueError for what is no layout."""
    parallelisms, partitions = layouts
    if partitions is not None and partitions[number] is not None:
        return place_of_partition(key, partitions[number]), False
    place = place_of(key, None if parallelisms is None else parallelisms[number])
    return place, not place.is_scoped


def _part_of(tensor: torch.Tensor, place: Place, is_part: bool) -> bytearray:
    if place.cut is None:
        return value_of(tensor)
    shape = tuple(map(int, tensor.shape))
    if is_part:
        return value_of(tensor, _shard_of_part(shape, place))
    _check_divisible(shape, place)
    part = tensor.chunk(place.cut.size, place.cut.dimension)[place.cut.rank]
    return value_of(part, Shard(place.cut, shape[place.cut.dimension]))


def _shard_of_part(shape: tuple[int, ...], place: Place) -> Shard:
    """All parts are taken to be as large as this one; a reader refuses them when they are not."""
    assert place.cut is not None
    if place.cut.dimension >= len(shape):
        raise ValueError(f"split_dim {place.cut.dimension} of a tensor of shape {shape}")
    return Shard(place.cut, shape[place.cut.dimension] * place.cut.size)


def _check_divisible(shape: tuple[int, ...], place: Place) -> None:
    cut = place.cut
    assert cut is not None
    if cut.dimension >= len(shape) or shape[cut.dimension] % cut.size or not shape[cut.dimension]:
        raise ValueError(f"a tensor of shape {shape} has no {cut.size} equal parts along dimension {cut.dimension}")


def _take(
    pool: Pool, plan: ShardPlan, space: Space | None, until_read: ExitStack
) -> ctypes.Array[ctypes.c_char] | Refusal:
    """Registered memory that begins with the header, and has room for the elements behind it."""
    header = plan.header.encode()
    size = len(header) + plan.header.data_bytes
    if space is None:
        try:
            pages = zeroed_pages(size)
        except OSError as problem:
            return Refusal(ErrorCode.NO_AVAILABLE_HANDLE, f"no memory for {size} bytes: {problem}")
        ctypes.memmove(pages, header, len(header))
        pool.register(ctypes.addressof(pages), size)
        until_read.callback(pool.unregister, ctypes.addressof(pages))
        return pages
    if space[1] < size:
        return Refusal(ErrorCode.INVALID_PARAMS, f"a tensor of {size} bytes, but memory for {space[1]}")
    source = ctypes.create_string_buffer(header, len(header))
    if not pool.copies.to_application([(space[0], ctypes.addressof(source), len(header))]):
        return Refusal(ErrorCode.INVALID_PARAMS, f"{size} bytes at {space[0]} are outside registered memory")
    return (ctypes.c_char * size).from_address(space[0])
