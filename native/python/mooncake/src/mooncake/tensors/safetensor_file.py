# SPDX-License-Identifier: Apache-2.0
"""Files of the safetensors format with one tensor, read and written without the library of that name."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mooncake.tensors.tensor_format import TensorHeader

if TYPE_CHECKING:
    from typing_extensions import Buffer

_TYPES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3",
    "float8_e5m2": "F8_E5M2",
    "float8_e8m0fnu": "F8_E8M0",
    "complex64": "C64",
    "int64": "I64",
    "int32": "I32",
    "int16": "I16",
    "int8": "I8",
    "uint64": "U64",
    "uint32": "U32",
    "uint16": "U16",
    "uint8": "U8",
    "bool": "BOOL",
}
_NAMES = {file: name for name, file in _TYPES.items()}
_INDEX_BYTES_MAX = 100_000_000  # as in the library


def write_tensor(path: str | os.PathLike[str], name: str, header: TensorHeader, data: Buffer) -> None:
    """Writes a file with this tensor, in place of one that is there. OSError; ValueError for a type without a name there."""
    if header.dtype not in _TYPES:
        raise ValueError(f"safetensors has no name for type {header.dtype}")
    entry = {"dtype": _TYPES[header.dtype], "shape": header.shape, "data_offsets": [0, header.data_bytes]}
    index = json.dumps({name: entry}, ensure_ascii=False).encode()
    index += b" " * (-len(index) % 8)  # elements begin at a multiple of eight
    unfinished = f"{os.fspath(path)}.{os.getpid()}.unfinished"
    try:
        with open(unfinished, "wb") as file:
            file.write(struct.pack("<Q", len(index)))
            file.write(index)
            file.write(data)
        os.replace(unfinished, path)
    except BaseException:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise


def read_tensor(path: str | os.PathLike[str], name: str | None, key: str) -> tuple[TensorHeader, bytes]:
    """The tensor of that name, without one that of the key, or the only one there is. OSError; ValueError for a file that
    is none or has no such tensor."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        (length,) = struct.unpack("<Q", file.read(8).ljust(8, b"\xff"))
        if length > min(_INDEX_BYTES_MAX, size - 8):
            raise ValueError("no safetensors file: it is shorter than its index")
        entry = _choose(json.loads(file.read(length)), name, key)
        try:
            header = TensorHeader(_NAMES[entry["dtype"]], tuple(map(int, entry["shape"])))
            begin, end = map(int, entry["data_offsets"])
        except (KeyError, TypeError) as problem:
            raise ValueError(f"a tensor without {problem}") from problem
        if not 0 <= begin <= end <= size - 8 - length or end - begin != header.data_bytes:
            raise ValueError(f"a tensor of {header.data_bytes} bytes from {begin} to {end} of {size - 8 - length}")
        file.seek(8 + length + begin)
        return header, file.read(end - begin)


def _choose(index: object, name: str | None, key: str) -> Mapping[str, Any]:
    if not isinstance(index, dict):
        raise ValueError("no safetensors file: its index is no object")
    index.pop("__metadata__", None)
    wanted = name if name is not None else key if key in index else next(iter(index), key) if len(index) == 1 else key
    if not isinstance(index.get(wanted), dict):
        raise ValueError(f"no tensor {wanted!r} among {len(index)}")
    return index[wanted]
