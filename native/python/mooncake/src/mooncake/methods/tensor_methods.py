# SPDX-License-Identifier: Apache-2.0
"""The methods of a store for tensors. torch is imported when a tensor is made, and needed for nothing else."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mooncake.answers.error_code import ErrorCode
from mooncake.connection.pool import Pool
from mooncake.methods.calls import first_failure, short
from mooncake.methods.range_methods import RangeMethods
from mooncake.methods.store_calls import INVALID_PARAMS
from mooncake.methods.tensor_values import Layout, Value, bytes_at, header_at, part_at, parts_of, tensor_of, value_of
from mooncake.replicas.replicate_config import ReplicateConfig
from mooncake.tensors.parallelism import key_of_rank
from mooncake.tensors.safetensor_file import read_tensor, write_tensor
from mooncake.tensors.shards import Cut
from mooncake.tensors.tensor_format import decode

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found, unused-ignore]
    from typing_extensions import Buffer

_NOT_FOUND = int(ErrorCode.OBJECT_NOT_FOUND)
_INTERNAL_ERROR = int(ErrorCode.INTERNAL_ERROR)
_LOCAL = ("auto", "local", "file")


class TensorMethods(RangeMethods):
    """Tensors of torch, of any type and shape. A put copies the tensor once, into a value with its header.

    What is no tensor, or is of a type that cannot be kept, is -600. A tensor on a device is brought to the host by torch.
    With tensor parallelism a tensor is `tp_size` objects, `KEY_tp_0` and so on, each a part of it along `split_dim`.
    """

    # ---- put, and upsert

    def put_tensor(self, key: str, tensor: torch.Tensor) -> int:
        """Stores a tensor. 0 or negative."""
        return self.batch_pub_tensor([key], [tensor])[0]

    def pub_tensor(self, key: str, tensor: torch.Tensor, config: ReplicateConfig | None = None) -> int:
        """put_tensor() with a ReplicateConfig. 0 or negative."""
        return self.batch_pub_tensor([key], [tensor], config)[0]

    def upsert_tensor(self, key: str, tensor: torch.Tensor) -> int:
        """Stores a tensor, in place of what the key has. 0 or negative."""
        return self.batch_upsert_pub_tensor([key], [tensor])[0]

    def upsert_pub_tensor(self, key: str, tensor: torch.Tensor, config: ReplicateConfig | None = None) -> int:
        """upsert_tensor() with a ReplicateConfig. 0 or negative."""
        return self.batch_upsert_pub_tensor([key], [tensor], config)[0]

    def batch_put_tensor(self, keys: Sequence[str], tensors_list: Sequence[torch.Tensor]) -> list[int]:
        """put_tensor() for many keys: the code of each."""
        return self.batch_pub_tensor(keys, tensors_list)

    def batch_pub_tensor(
        self, keys: Sequence[str], tensors_list: Sequence[torch.Tensor], config: ReplicateConfig | None = None
    ) -> list[int]:
        """pub_tensor() for many keys: the code of each."""
        return self._put_tensors("put_tensor", keys, tensors_list, config, upsert=False)

    def batch_upsert_tensor(self, keys: Sequence[str], tensors_list: Sequence[torch.Tensor]) -> list[int]:
        """upsert_tensor() for many keys: the code of each."""
        return self.batch_upsert_pub_tensor(keys, tensors_list)

    def batch_upsert_pub_tensor(
        self, keys: Sequence[str], tensors_list: Sequence[torch.Tensor], config: ReplicateConfig | None = None
    ) -> list[int]:
        """upsert_pub_tensor() for many keys: the code of each."""
        return self._put_tensors("upsert_tensor", keys, tensors_list, config, upsert=True)

    def put_tensor_with_tp(
        self, key: str, tensor: torch.Tensor, tp_rank: int = 0, tp_size: int = 1, split_dim: int = 0
    ) -> int:
        """Stores all parts of a tensor, whatever tp_rank says. 0, or the code of the first that failed."""
        return self.batch_pub_tensor_with_tp([key], [tensor], None, tp_rank, tp_size, split_dim)[0]

    def pub_tensor_with_tp(
        self,
        key: str,
        tensor: torch.Tensor,
        config: ReplicateConfig | None = None,
        tp_rank: int = 0,
        tp_size: int = 1,
        split_dim: int = 0,
    ) -> int:
        """put_tensor_with_tp() with a ReplicateConfig."""
        return self.batch_pub_tensor_with_tp([key], [tensor], config, tp_rank, tp_size, split_dim)[0]

    def batch_put_tensor_with_tp(
        self,
        base_keys: Sequence[str],
        tensors_list: Sequence[torch.Tensor],
        tp_rank: int = 0,
        tp_size: int = 1,
        split_dim: int = 0,
    ) -> list[int]:
        """put_tensor_with_tp() for many keys: the code of each."""
        return self.batch_pub_tensor_with_tp(base_keys, tensors_list, None, tp_rank, tp_size, split_dim)

    def batch_pub_tensor_with_tp(
        self,
        base_keys: Sequence[str],
        tensors_list: Sequence[torch.Tensor],
        config: ReplicateConfig | None = None,
        tp_rank: int = 0,
        tp_size: int = 1,
        split_dim: int = 0,
    ) -> list[int]:
        """pub_tensor_with_tp() for many keys: the code of each."""
        if tp_size <= 1:
            return self.batch_pub_tensor(base_keys, tensors_list, config)
        if len(base_keys) != len(tensors_list):
            return self._refuse("put_tensor_with_tp", len(base_keys), _uneven(base_keys, tensors_list))

        def make(number: int) -> list[Value]:
            return parts_of(base_keys[number], tensors_list[number], tp_size, split_dim)

        return self._put_made("put_tensor_with_tp", base_keys, make, config, upsert=False)

    # ---- put of a tensor that lies in registered memory, its header before it, as get_tensor_into() leaves it

    def put_tensor_from(self, key: str, buffer_ptr: int, size: int) -> int:
        """Stores a tensor of `size` bytes, header and elements, from registered memory. 0 or negative."""
        return self.batch_put_tensor_from([key], [buffer_ptr], [size])[0]

    def batch_put_tensor_from(self, keys: Sequence[str], buffer_ptrs: Sequence[int], sizes: Sequence[int]) -> list[int]:
        """put_tensor_from() for many keys: the code of each."""
        return self._put_tensors_from("put_tensor_from", keys, buffer_ptrs, sizes, upsert=False)

    def upsert_tensor_from(self, key: str, buffer_ptr: int, size: int) -> int:
        """put_tensor_from(), in place of what the key has. 0 or negative."""
        return self.batch_upsert_tensor_from([key], [buffer_ptr], [size])[0]

    def batch_upsert_tensor_from(
        self, keys: Sequence[str], buffer_ptrs: Sequence[int], sizes: Sequence[int]
    ) -> list[int]:
        """upsert_tensor_from() for many keys: the code of each."""
        return self._put_tensors_from("upsert_tensor_from", keys, buffer_ptrs, sizes, upsert=True)

    def put_tensor_with_tp_from(
        self, key: str, buffer_ptr: int, size: int, tp_rank: int = 0, tp_size: int = 1, split_dim: int = 0
    ) -> int:
        """Stores all parts of a tensor in registered memory, whatever tp_rank says. 0, or the code of the first that failed."""
        return self.batch_put_tensor_with_tp_from([key], [buffer_ptr], [size], tp_rank, tp_size, split_dim)[0]

    def batch_put_tensor_with_tp_from(
        self,
        base_keys: Sequence[str],
        buffer_ptrs: Sequence[int],
        sizes: Sequence[int],
        tp_rank: int = 0,
        tp_size: int = 1,
        split_dim: int = 0,
    ) -> list[int]:
        """put_tensor_with_tp_from() for many keys: the code of each."""
        if tp_size <= 1:
            return self.batch_put_tensor_from(base_keys, buffer_ptrs, sizes)

        def make(pool: Pool, number: int) -> list[Value]:
            header = header_at(pool, buffer_ptrs[number], sizes[number])
            cuts = [Cut(split_dim, rank, tp_size) for rank in range(tp_size)]
            return [
                (key_of_rank(base_keys[number], cut.rank), part_at(pool, buffer_ptrs[number], header, cut))
                for cut in cuts
            ]

        return self._put_from_memory("put_tensor_with_tp_from", base_keys, buffer_ptrs, sizes, make, None, upsert=False)

    # ---- get

    def get_tensor(self, key: str) -> torch.Tensor | None:
        """The tensor, in memory of its own; None when there is none, or the value is no tensor (the log tells)."""
        return self.batch_get_tensor([key])[0]

    def batch_get_tensor(self, keys: Sequence[str]) -> list[torch.Tensor | None]:
        """get_tensor() for many keys, in order."""
        return self._get_tensors(keys, [None] * len(keys))

    def get_tensor_with_tp(
        self, key: str, tp_rank: int = 0, tp_size: int = 1, split_dim: int = 0
    ) -> torch.Tensor | None:
        """The part of rank tp_rank, as put_tensor_with_tp() stored it; split_dim is not looked at. None for a tensor that was
        stored in another number of parts: get_tensor_with_parallelism() reads those too."""
        return self.batch_get_tensor_with_tp([key], tp_rank, tp_size)[0]

    def batch_get_tensor_with_tp(
        self, base_keys: Sequence[str], tp_rank: int = 0, tp_size: int = 1
    ) -> list[torch.Tensor | None]:
        """get_tensor_with_tp() for many keys, in order."""
        return self._get_tensors(_keys_of_rank(base_keys, tp_rank, tp_size), _layouts(base_keys, tp_size))

    def get_tensor_into(self, key: str, buffer_ptr: int, size: int) -> torch.Tensor | None:
        """Reads a tensor, header and elements, into registered memory, and returns it as a view of that memory, which the
        caller keeps for as long as the tensor is used. None as for get_tensor(), and when `size` is too small."""
        return self.batch_get_tensor_into([key], [buffer_ptr], [size])[0]

    def batch_get_tensor_into(
        self, keys: Sequence[str], buffer_ptrs: Sequence[int], sizes: Sequence[int]
    ) -> list[torch.Tensor | None]:
        """get_tensor_into() for many keys, in order."""
        return self._get_tensors_into(keys, buffer_ptrs, sizes, [None] * len(keys))

    def get_tensor_with_tp_into(
        self, key: str, buffer_ptr: int, size: int, tp_rank: int = 0, tp_size: int = 1, split_dim: int = 0
    ) -> torch.Tensor | None:
        """get_tensor_into() of the part of rank tp_rank; split_dim is not looked at."""
        return self.batch_get_tensor_with_tp_into([key], [buffer_ptr], [size], tp_rank, tp_size)[0]

    def batch_get_tensor_with_tp_into(
        self,
        base_keys: Sequence[str],
        buffer_ptrs: Sequence[int],
        sizes: Sequence[int],
        tp_rank: int = 0,
        tp_size: int = 1,
    ) -> list[torch.Tensor | None]:
        """get_tensor_with_tp_into() for many keys, in order."""
        keys = _keys_of_rank(base_keys, tp_rank, tp_size)
        return self._get_tensors_into(keys, buffer_ptrs, sizes, _layouts(keys, tp_size))

    # ---- files

    def save_tensor_to_safetensor(
        self,
        key: str,
        file_name: str | os.PathLike[str] | None = None,
        filesystem: str = "auto",
        storage_options: dict[str, Any] | None = None,
        tensor_name: str | None = None,
    ) -> int:
        """Writes a tensor of the store to a safetensors file of this machine. torch is not needed.

        Args:
            file_name: the key without.
            filesystem: "auto", "local" or "file"; others, and storage_options, are refused.
            tensor_name: of the tensor in the file; the key without.

        Returns:
            0; -704 when there is no such tensor, -600 when the value is none or its type has no name in the format,
            -1 when the file cannot be written.
        """
        if not self._is_local("save_tensor_to_safetensor", filesystem, storage_options):
            return INVALID_PARAMS
        (value,) = self._values("save_tensor_to_safetensor", [key])
        if value is None:
            return _NOT_FOUND if self._pool is not None else INVALID_PARAMS
        try:
            header = decode(value)
            data = memoryview(value)[header.header_bytes :]
            write_tensor(key if file_name is None else file_name, tensor_name or key, header, data)
        except ValueError as problem:
            return self._failed("save_tensor_to_safetensor", INVALID_PARAMS, key, problem)
        except OSError as problem:
            return self._failed("save_tensor_to_safetensor", _INTERNAL_ERROR, key, problem)
        return 0

    def load_tensor_from_safetensor(
        self,
        key: str | None = None,
        file_name: str | os.PathLike[str] | None = None,
        filesystem: str = "auto",
        storage_options: dict[str, Any] | None = None,
        tensor_name: str | None = None,
    ) -> torch.Tensor | None:
        """Puts a tensor of a safetensors file of this machine, and returns it; None when that failed (the log tells).

        Args:
            key: the file's name without.
            filesystem: "auto", "local" or "file"; others, and storage_options, are refused.
            tensor_name: of the tensor in the file; without, the one named like the key, or the only one.
        """
        if not self._is_local("load_tensor_from_safetensor", filesystem, storage_options):
            return None
        if file_name is None:
            self._refuse("load_tensor_from_safetensor", 1, "no file_name was given")
            return None
        key = os.fspath(file_name) if key is None else key
        try:
            header, data = read_tensor(file_name, tensor_name, key)
        except (OSError, ValueError) as problem:
            self._failed("load_tensor_from_safetensor", INVALID_PARAMS, key, problem)
            return None
        value = bytearray(header.encode() + data)
        if self._put_values("load_tensor_from_safetensor", [key], [value], None, upsert=False) != [0]:
            return None
        return self._tensor(key, value)

    # ---- inside

    def _put_tensors(
        self,
        method: str,
        keys: Sequence[str],
        tensors: Sequence[torch.Tensor],
        config: ReplicateConfig | None,
        upsert: bool,
    ) -> list[int]:
        if len(keys) != len(tensors):
            return self._refuse(method, len(keys), _uneven(keys, tensors))
        return self._put_made(method, keys, lambda number: [(keys[number], value_of(tensors[number]))], config, upsert)

    def _put_tensors_from(
        self, method: str, keys: Sequence[str], addresses: Sequence[int], sizes: Sequence[int], upsert: bool
    ) -> list[int]:
        """The reference's callers count a longer header: what lies behind the tensor is not stored."""
        if (why := self._of_device(addresses)) is not None:
            return self._refuse(method, len(keys), why)
        pool = self._pool
        if pool is not None and len(keys) == len(addresses) == len(sizes):
            sizes = [bytes_at(pool, *line) for line in zip(addresses, sizes, strict=True)]
        return self._put_memory(method, keys, addresses, sizes, None, upsert)

    def _put_from_memory(
        self,
        method: str,
        keys: Sequence[str],
        addresses: Sequence[int],
        sizes: Sequence[int],
        make: Callable[[Pool, int], list[Value]],
        config: ReplicateConfig | None,
        upsert: bool,
    ) -> list[int]:
        """Values that are made of tensors in registered memory."""
        pool = self._pool
        if pool is None:
            return self._for_each(method, keys, lambda pool: [])
        if not len(keys) == len(addresses) == len(sizes):
            why = f"{len(keys)} keys but {len(addresses)} addresses and {len(sizes)} sizes"
            return self._refuse(method, len(keys), why)
        return self._put_made(method, keys, lambda number: make(pool, number), config, upsert, stages=False)

    def _put_made(
        self,
        method: str,
        keys: Sequence[str],
        make: Callable[[int], list[Value]],
        config: ReplicateConfig | None,
        upsert: bool,
        stages: bool = True,
    ) -> list[int]:
        """Stores the values that are made for each key, all at once: 0, or the first code of a key that is not."""
        made: dict[int, list[Value]] = {}
        for number, key in enumerate(keys):
            try:
                made[number] = make(number)
            except (AttributeError, TypeError, ValueError, RuntimeError, IndexError, OverflowError) as problem:
                self._failed(method, INVALID_PARAMS, key, problem)
        of_values = [number for number, values in made.items() for _ in values]
        if config is not None and config.group_ids and len(config.group_ids) == len(keys):
            config = replace(config, group_ids=[config.group_ids[number] for number in of_values])
        stored = [key for values in made.values() for key, _ in values]
        buffers = [buffer for values in made.values() for _, buffer in values]
        codes = iter(self._put_values(method, stored, buffers, config, upsert, stages))
        answers = [INVALID_PARAMS] * len(keys)
        for number, values in made.items():
            answers[number] = first_failure([next(codes) for _ in values])
        return answers

    def _get_tensors(self, keys: Sequence[str], layouts: Sequence[Layout | None]) -> list[torch.Tensor | None]:
        values = self._values("get_tensor", keys)
        # torch wants memory that may be written to, and tensors may be.
        return [
            self._tensor(key, None if value is None else bytearray(value), layout)
            for key, value, layout in zip(keys, values, layouts, strict=True)
        ]

    def _get_tensors_into(
        self, keys: Sequence[str], addresses: Sequence[int], sizes: Sequence[int], layouts: Sequence[Layout | None]
    ) -> list[torch.Tensor | None]:
        if (why := self._of_device(addresses)) is not None:
            self._refuse("get_tensor_into", len(keys), why)
            return [None] * len(keys)
        lengths = self._read_memory("get_tensor_into", keys, addresses, sizes)
        return [
            self._tensor(key, None if length < 0 else (ctypes.c_char * length).from_address(address), layout)
            for key, address, length, layout in zip(keys, addresses, lengths, layouts, strict=False)
        ]

    def _of_device(self, addresses: Sequence[int]) -> str | None:
        """Why tensors cannot be there: their headers are read and written by the processor."""
        pool = self._pool
        for address in addresses:
            if pool is not None and pool.copies.is_of_device(address):
                return f"the memory at {address} is a device's: tensors with their headers go to and from the host's memory"
        return None

    def _tensor(self, key: str, value: Buffer | None, layout: Layout | None = None) -> torch.Tensor | None:
        """None for what is no tensor, or a part of one in another layout."""
        if value is None:
            return None
        try:
            return tensor_of(value, layout)
        except (AttributeError, ValueError, RuntimeError) as problem:
            self._failed("get_tensor", INVALID_PARAMS, key, problem)
            return None

    def _is_local(self, method: str, filesystem: str, storage_options: dict[str, Any] | None) -> bool:
        if filesystem in _LOCAL and not storage_options:
            return True
        self._refuse(method, 1, f"filesystem {filesystem!r} with options {storage_options!r}, but files are local here")
        return False

    def _failed(self, method: str, code: int, key: str, problem: Exception) -> int:
        self._calls.failures.write(method, code, f"key {short(key)} failed", str(problem))
        return code


def _keys_of_rank(keys: Iterable[str], rank: int, size: int) -> list[str]:
    return list(keys) if size <= 1 else [key_of_rank(key, rank) for key in keys]


def _layouts(keys: Sequence[str], size: int) -> list[Layout | None]:
    return [None if size <= 1 else (size, None)] * len(keys)


def _uneven(keys: Sequence[str], tensors: Sequence[torch.Tensor]) -> str:
    return f"{len(keys)} keys but {len(tensors)} tensors"
