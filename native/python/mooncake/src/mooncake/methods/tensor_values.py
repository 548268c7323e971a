# SPDX-License-Identifier: Apache-2.0
"""Values of tensors: made of tensors of torch and of tensors in registered memory, and made tensors again."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mooncake.connection.pool import Pool
from mooncake.tensors.parallelism import key_of_rank
from mooncake.tensors.shards import Cut, Run, Shard, box_of, runs
from mooncake.tensors.tensor_format import HEADER_BYTES_MAX, TensorHeader, decode, decode_header

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found, unused-ignore]
    from typing_extensions import Buffer

Value = tuple[str, "Buffer"]  # with its key
Layout = tuple[int, int | None]  # number of parts, and the dimension along which they are, where it is known


def parts_of(key: str, tensor: torch.Tensor, parts: int, dimension: int) -> list[Value]:
    """All parts of a tensor, with their keys."""
    chunks = tensor.chunk(parts, dimension)
    if len(chunks) != parts:
        raise ValueError(f"dimension {dimension} has {len(chunks)} parts, not {parts}")
    dimension %= len(tensor.shape)
    whole = int(tensor.shape[dimension])
    return [
        (key_of_rank(key, rank), value_of(chunk, Shard(Cut(dimension, rank, parts), whole)))
        for rank, chunk in enumerate(chunks)
    ]


def value_of(tensor: torch.Tensor, shard: Shard | None = None) -> bytearray:
    """Header and elements, in the order of rows. Whatever torch raises, for what is no tensor."""
    header = TensorHeader(str(tensor.dtype).removeprefix("torch."), tuple(map(int, tensor.shape)), shard)
    plain = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    address, size = plain.data_ptr(), header.data_bytes
    if size != plain.numel() * plain.element_size() or (size > 0 and address == 0):
        raise ValueError(f"a tensor of shape {header.shape} without {size} bytes of memory")
    value = bytearray(header.encode())
    value += (ctypes.c_char * size).from_address(address) if size > 0 else b""
    return value


def header_at(pool: Pool, address: int, size: int) -> TensorHeader:
    """Of a tensor of at most `size` bytes in registered memory. ValueError when there is none."""
    head = (ctypes.c_char * min(max(size, 0), HEADER_BYTES_MAX))()
    if not pool.copies.from_application([(address, ctypes.addressof(head), len(head))]):
        raise ValueError(f"{len(head)} bytes at {address} are outside registered memory")
    header = decode_header(memoryview(head).cast("B"))
    if header.header_bytes + header.data_bytes > size:
        raise ValueError(f"a tensor of {header.header_bytes + header.data_bytes} bytes in {size}")
    return header


def bytes_at(pool: Pool, address: int, size: int) -> int:
    """Of the tensor there; `size` where there is none."""
    try:
        header = header_at(pool, address, size)
    except ValueError:
        return size
    return header.header_bytes + header.data_bytes


def part_at(pool: Pool, address: int, header: TensorHeader, cut: Cut) -> bytearray:
    """The value of a part of a tensor in registered memory."""
    source, target = box_of(header.shape, None), box_of(header.shape, cut)
    made = TensorHeader(header.dtype, target.shape, Shard(cut, header.shape[cut.dimension]))
    return _copied(pool, address + header.header_bytes, made, runs(header.item_bytes, source, target))


def value_at(pool: Pool, address: int, header: TensorHeader, shard: Shard | None) -> bytearray:
    """The value of a tensor in registered memory, as the part that it is."""
    made = TensorHeader(header.dtype, header.shape, shard)
    return _copied(pool, address + header.header_bytes, made, [(0, 0, header.data_bytes)])


def _copied(pool: Pool, address: int, header: TensorHeader, parts: Sequence[Run]) -> bytearray:
    """A value with this header, its elements from registered memory."""
    value = bytearray(header.header_bytes + header.data_bytes)
    value[: header.header_bytes] = header.encode()
    base = ctypes.addressof(ctypes.c_char.from_buffer(value)) + header.header_bytes
    if not pool.copies.from_application([(address + at, base + to, size) for at, to, size in parts]):
        raise ValueError("the tensor is not all in registered memory")
    return value


def tensor_of(value: Buffer, layout: Layout | None = None) -> torch.Tensor:
    """A view of memory that may be written to. ValueError for what is no tensor, or a part of one in another layout;
    AttributeError for a type that this version of torch does not have."""
    import torch  # type: ignore[import-not-found, unused-ignore]

    header = decode(value)
    if layout is not None and header.shard is not None:
        cut = header.shard.cut
        if layout != (cut.size, layout[1] if layout[1] is None else cut.dimension):
            raise ValueError(f"it was stored in {cut.size} parts along dimension {cut.dimension}")
    dtype = getattr(torch, header.dtype)
    if header.elements == 0:
        return torch.empty(header.shape, dtype=dtype)
    flat = torch.frombuffer(value, dtype=dtype, count=header.elements, offset=header.header_bytes)
    return flat.reshape(header.shape)
