# SPDX-License-Identifier: Apache-2.0
"""How a tensor is an object: a header that says type and shape, and the elements behind it. Pure.

The header has 40 bytes: type and number of dimensions as int32, then four lengths as int64, unused ones -1; more for a
tensor of more than four dimensions. That of a part of a tensor says which, by four more int64: the dimension along which the
tensor was cut, rank, number of parts, and length of the whole. It is never longer than the reference's for the dimensions
that are possible there: a buffer that is large enough there is here.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mooncake.tensors.shards import Cut, Shard

if TYPE_CHECKING:
    from typing_extensions import Buffer

_FIXED = struct.Struct("<ii")
_LENGTHS_MIN = 4
_DIMENSIONS_MAX = 64  # as in torch
_LENGTH_MAX = (1 << 63) - 1
_SHARD = struct.Struct("<qqqq")
_IS_SHARD = 1 << 16  # added to the number of the type
HEADER_BYTES_MIN = _FIXED.size + 8 * _LENGTHS_MIN
HEADER_BYTES_MAX = _FIXED.size + 8 * _DIMENSIONS_MAX + _SHARD.size

# torch's name of each type: its number, up to 14 that of the reference, and the bytes of an element.
_TYPES = {
    "float32": (0, 4),
    "float64": (1, 8),
    "int8": (2, 1),
    "uint8": (3, 1),
    "int16": (4, 2),
    "uint16": (5, 2),
    "int32": (6, 4),
    "uint32": (7, 4),
    "int64": (8, 8),
    "uint64": (9, 8),
    "bool": (10, 1),
    "float16": (11, 2),
    "bfloat16": (12, 2),
    "float8_e4m3fn": (13, 1),
    "float8_e5m2": (14, 1),
    "float8_e4m3fnuz": (100, 1),
    "float8_e5m2fnuz": (101, 1),
    "float8_e8m0fnu": (102, 1),
    "complex32": (103, 4),
    "complex64": (104, 8),
    "complex128": (105, 16),
}
_NAMES = {number: name for name, (number, _) in _TYPES.items()}


@dataclass(frozen=True, slots=True)
class TensorHeader:
    """What the elements of a tensor are. ValueError for a type or shape that cannot be kept."""

    dtype: str
    shape: tuple[int, ...]
    shard: Shard | None = None  # what it is a part of

    def __post_init__(self) -> None:
        if self.dtype not in _TYPES:
            raise ValueError(f"tensors of type {self.dtype} cannot be kept")
        if len(self.shape) > _DIMENSIONS_MAX:
            raise ValueError(f"a tensor of {len(self.shape)} dimensions, but {_DIMENSIONS_MAX} is the most")
        if min(self.shape, default=0) < 0 or self.data_bytes > _LENGTH_MAX:
            raise ValueError(f"a tensor of shape {self.shape}")
        if self.shard is not None:
            self.shard.shape_of_whole(self.shape)

    @property
    def elements(self) -> int:
        return math.prod(self.shape)

    @property
    def item_bytes(self) -> int:
        return _TYPES[self.dtype][1]

    @property
    def data_bytes(self) -> int:
        return self.elements * self.item_bytes

    @property
    def header_bytes(self) -> int:
        return _header_bytes(len(self.shape), self.shard is not None)

    def encode(self) -> bytes:
        lengths = [*self.shape, *[-1] * (_LENGTHS_MIN - len(self.shape))]
        kind = _TYPES[self.dtype][0] + (0 if self.shard is None else _IS_SHARD)
        plain = _FIXED.pack(kind, len(self.shape)) + struct.pack(f"<{len(lengths)}q", *lengths)
        if self.shard is None:
            return plain
        cut = self.shard.cut
        return plain + _SHARD.pack(cut.dimension, cut.rank, cut.size, self.shard.whole)


def decode(value: Buffer) -> TensorHeader:
    """The header of a value. ValueError for a value that is no tensor, whole and with nothing behind it."""
    view = memoryview(value).cast("B")
    header = decode_header(view)
    expected = header.header_bytes + header.data_bytes
    if len(view) != expected:
        raise ValueError(f"a tensor of {expected} bytes in a value of {len(view)}")
    return header


def decode_header(view: memoryview) -> TensorHeader:
    """The header that a value begins with. ValueError for a value that is no tensor."""
    if len(view) < HEADER_BYTES_MIN:
        raise ValueError(f"{len(view)} bytes are no tensor: its header alone has {HEADER_BYTES_MIN}")
    kind, dimensions = _FIXED.unpack_from(view)
    number, is_shard = (kind - _IS_SHARD, True) if kind >= _IS_SHARD else (kind, False)
    if (
        number not in _NAMES
        or not 0 <= dimensions <= _DIMENSIONS_MAX
        or len(view) < _header_bytes(dimensions, is_shard)
    ):
        raise ValueError(f"no tensor: type {kind} and {dimensions} dimensions")
    shard = None
    if is_shard:
        *cut, whole = _SHARD.unpack_from(view, _header_bytes(dimensions, False))
        shard = Shard(Cut(*cut), whole)
    return TensorHeader(_NAMES[number], struct.unpack_from(f"<{dimensions}q", view, _FIXED.size), shard)


def _header_bytes(dimensions: int, is_shard: bool) -> int:
    return _FIXED.size + 8 * max(dimensions, _LENGTHS_MIN) + (_SHARD.size if is_shard else 0)
