# SPDX-License-Identifier: Apache-2.0
"""Members of objects: bytes, arrays of numpy and tensors of torch, as bytes and back. Both are imported when they are met."""

from __future__ import annotations

import ctypes
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mooncake.methods.tensor_values import tensor_of, value_of
from mooncake.objects.read_specs import StructuredMemberSlice
from mooncake.tensors.shards import Box, Run, box_of, runs
from mooncake.tensors.tensor_format import TensorHeader, decode_header

# The name in the metadata of an object of what each member is.
FIELD_SPECS = "__mooncake_structured_fields__"

ReadInto = Callable[[Sequence[Run], int, int], None]  # parts, address, bytes there


@dataclass(frozen=True)
class TensorObjectBuffer:
    """A tensor in memory, its header before it, as get_tensor_into() leaves it; `owner` keeps the memory."""

    ptr: int
    size: int
    owner: Any = None
    batch_size: int | None = None

    def __len__(self) -> int:
        if self.batch_size is None:
            raise TypeError("no batch_size was given")
        return self.batch_size


@dataclass(frozen=True)
class RawDestination:
    """Memory for a member; `owner` keeps it."""

    ptr: int
    size: int
    owner: Any = None
    pre_registered: bool = False


Destination = TensorObjectBuffer | RawDestination | Any  # or an array of numpy


def metadata_of(stored: bytes) -> tuple[dict[str, Any], Mapping[str, Any]]:
    """The metadata of an object, and what each member is. ValueError for what is none."""
    metadata = json.loads(stored or b"{}")
    specs = metadata.get(FIELD_SPECS, {}) if isinstance(metadata, dict) else None
    if not isinstance(specs, dict) or not all(isinstance(spec, dict) for spec in specs.values()):
        raise ValueError("the metadata of the object are none")
    return metadata, specs


def encode(value: Any) -> tuple[dict[str, Any], memoryview]:
    """How it is encoded, and its bytes. TypeError or ValueError for what cannot be stored."""
    if isinstance(value, TensorObjectBuffer):
        header = decode_header(memoryview((ctypes.c_char * value.size).from_address(value.ptr)).cast("B"))
        size = header.header_bytes + header.data_bytes
        if size > value.size:
            raise ValueError(f"a tensor of {size} bytes in {value.size}")
        return _of_tensor(header), memoryview((ctypes.c_char * size).from_address(value.ptr)).cast("B")
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and isinstance(value, torch.Tensor):
        stored = memoryview(value_of(value))
        return _of_tensor(decode_header(stored)), stored
    if numpy is not None and isinstance(value, numpy.ndarray):
        if value.dtype.hasobject:
            raise TypeError("an array of Python objects has no bytes")
        if not value.dtype.itemsize:
            raise TypeError(f"the elements of an array of {value.dtype.str} have no bytes")
        array = numpy.ascontiguousarray(value).reshape(value.shape)
        return {"encoding": "ndarray", "dtype": array.dtype.str, "shape": list(array.shape)}, _bytes_of(array, numpy)
    view = memoryview(value)
    if not view.c_contiguous:
        raise ValueError("a buffer that is not contiguous")
    return {"encoding": "bytes"}, view.cast("B") if view.nbytes else memoryview(b"")


def decode(
    name: str,
    spec: Mapping[str, Any],
    length: int,
    part: StructuredMemberSlice | None,
    destination: Destination | None,
    read: Callable[[], bytes],
    read_into: ReadInto,
) -> Any:
    """A member, or a part of it. ValueError or TypeError when it cannot be had like that."""
    encoding = spec.get("encoding")
    if encoding == "bytes":
        if part is not None or destination is not None:
            raise ValueError(f"{name!r} is bytes, which are read whole and into memory of their own")
        return read()
    shape = _shape(name, spec)
    if encoding == "ndarray":
        return _array(name, str(spec.get("dtype")), shape, length, part, destination, read_into)
    if encoding == "torch_tensor":
        header = TensorHeader(str(spec.get("dtype")), shape)
        return _tensor(name, header, length, part, destination, read_into)
    raise ValueError(f"{name!r} is encoded as {encoding!r}")


def _array(
    name: str,
    dtype: str,
    shape: tuple[int, ...],
    length: int,
    part: StructuredMemberSlice | None,
    destination: Destination | None,
    read_into: ReadInto,
) -> Any:
    import numpy  # type: ignore[import-not-found, unused-ignore]

    kind = _kind(name, dtype, shape, length)
    box, step = _selected(name, shape, part)
    array = (
        numpy.empty(box.shape, kind) if destination is None or step > 1 else _target(name, destination, kind, box.shape)
    )
    if array.nbytes:
        read_into(runs(kind.itemsize, box_of(shape, None), box), array.ctypes.data, array.nbytes)
    if step == 1 or part is None:
        return array
    chosen = array[(*[slice(None)] * _axis(name, shape, part), slice(None, None, step))]
    if destination is None:
        return numpy.ascontiguousarray(chosen)
    target = _target(name, destination, kind, chosen.shape)
    target[...] = chosen
    return target


def decode_rows(
    name: str,
    spec: Mapping[str, Any],
    length: int,
    rows: Sequence[int],
    destination: Destination | None,
    read_into: ReadInto,
) -> Any:
    """Rows of an array or a tensor, in the order given. ValueError or TypeError when they cannot be had."""
    encoding, shape = spec.get("encoding"), _shape(name, spec) if spec.get("encoding") != "bytes" else ()
    if encoding not in ("ndarray", "torch_tensor") or not shape:
        raise ValueError(f"{name!r} has no rows")
    # They were counted by what the batch says of itself.
    if rows and max(rows) >= shape[0]:
        raise ValueError(f"{name!r} has {shape[0]} rows, and none of number {max(rows)}")
    made = (len(rows), *shape[1:])
    if encoding == "ndarray":
        import numpy

        kind = _kind(name, str(spec.get("dtype")), shape, length)
        array = numpy.empty(made, kind) if destination is None else _target(name, destination, kind, made)
        if array.nbytes:
            read_into(_runs_of(rows, kind.itemsize * math.prod(shape[1:]), 0, 0), array.ctypes.data, array.nbytes)
        return array
    header = TensorHeader(str(spec.get("dtype")), shape)
    before = _header_bytes(name, header, length)
    target = TensorHeader(header.dtype, made)
    memory = _tensor_memory(name, target, destination)
    width = header.item_bytes * math.prod(shape[1:])
    if parts := _runs_of(rows, width, before, target.header_bytes):
        read_into(parts, ctypes.addressof(memory), target.header_bytes + target.data_bytes)
    return tensor_of(memory)


def _runs_of(rows: Sequence[int], width: int, before: int, after: int) -> list[Run]:
    """Rows of `width` bytes each; those that follow each other are one."""
    found: list[Run] = []
    for number, row in enumerate(rows if width else ()):
        at, to = before + row * width, after + number * width
        if found and found[-1][0] + found[-1][2] == at:
            found[-1] = (found[-1][0], found[-1][1], found[-1][2] + width)
        else:
            found.append((at, to, width))
    return found


def _shape(name: str, spec: Mapping[str, Any]) -> tuple[int, ...]:
    shape = spec.get("shape")
    if not isinstance(shape, list) or not all(type(number) is int and number >= 0 for number in shape):
        raise ValueError(f"{name!r} has shape {shape!r}")
    return tuple(shape)


def _kind(name: str, dtype: str, shape: tuple[int, ...], length: int) -> Any:
    import numpy

    kind = numpy.dtype(dtype)
    # Elements without bytes would let any shape pass.
    if kind.hasobject or not kind.itemsize or length != kind.itemsize * math.prod(shape):
        raise ValueError(f"{name!r} is no array of {dtype} and shape {shape} in {length} bytes")
    return kind


def _target(name: str, destination: Destination, kind: Any, shape: tuple[int, ...]) -> Any:
    """The caller's memory as an array."""
    import numpy

    if isinstance(destination, RawDestination):
        size = kind.itemsize * math.prod(shape)
        if destination.size < size:
            raise ValueError(f"{name!r} takes {size} bytes, and its destination has {destination.size}")
        memory = (ctypes.c_char * size).from_address(destination.ptr)
        return numpy.frombuffer(memory, kind).reshape(shape) if size else numpy.empty(shape, kind)
    if not isinstance(destination, numpy.ndarray):
        raise TypeError(
            f"{name!r} goes to an array of numpy or a raw_destination, not to a {type(destination).__name__}"
        )
    flags = destination.flags
    if destination.dtype != kind or destination.shape != shape or not (flags.c_contiguous and flags.writeable):
        raise ValueError(f"{name!r} takes a contiguous array of {kind.str} and shape {shape} that may be written to")
    return destination


def _tensor(
    name: str,
    header: TensorHeader,
    length: int,
    part: StructuredMemberSlice | None,
    destination: Destination | None,
    read_into: ReadInto,
) -> Any:
    stored_header_bytes = _header_bytes(name, header, length)
    box, step = _selected(name, header.shape, part)
    if step > 1:
        raise ValueError(f"{name!r} is a tensor, of which parts are read without steps")
    made = TensorHeader(header.dtype, box.shape)
    memory = _tensor_memory(name, made, destination)
    parts = [
        (stored_header_bytes + at, made.header_bytes + to, bytes_)
        for at, to, bytes_ in runs(made.item_bytes, box_of(header.shape, None), box)
    ]
    read_into(parts, ctypes.addressof(memory), made.header_bytes + made.data_bytes)
    return tensor_of(memory)


def _header_bytes(name: str, header: TensorHeader, length: int) -> int:
    """How long the header of what is stored is: a part of a tensor that was stored as such has more in its header."""
    if length - header.data_bytes < header.header_bytes:
        raise ValueError(f"{name!r} is no tensor of {header.data_bytes} bytes in {length}")
    return length - header.data_bytes


def _tensor_memory(name: str, made: TensorHeader, destination: Destination | None) -> Any:
    """Memory for a tensor, of its own or the caller's, with the header in it."""
    size = made.header_bytes + made.data_bytes
    if destination is None:
        memory = (ctypes.c_char * size)()
    elif not isinstance(destination, TensorObjectBuffer | RawDestination):
        raise TypeError(f"{name!r} goes to a tensor_object_buffer or a raw_destination")
    elif destination.size < size:
        raise ValueError(f"{name!r} takes {size} bytes, and its destination has {destination.size}")
    else:
        memory = (ctypes.c_char * size).from_address(destination.ptr)
    ctypes.memmove(memory, made.encode(), made.header_bytes)
    return memory


def _selected(name: str, shape: tuple[int, ...], part: StructuredMemberSlice | None) -> tuple[Box, int]:
    """The elements from the first that is wanted to the last, and how far apart they are."""
    if part is None:
        return box_of(shape, None), 1
    axis = _axis(name, shape, part)
    if part.step <= 0:
        raise ValueError(f"{name!r} is read with steps of {part.step}")
    start, end, step = slice(part.start, part.end, part.step).indices(shape[axis])
    end = max(start, end)
    whole = box_of(shape, None)
    begin, last = list(whole.begin), list(whole.end)
    begin[axis], last[axis] = start, end
    return Box(tuple(begin), tuple(last)), step


def _axis(name: str, shape: tuple[int, ...], part: StructuredMemberSlice) -> int:
    if not 0 <= part.axis < len(shape):
        raise ValueError(f"{name!r} of shape {shape} has no axis {part.axis}")
    return part.axis


def _of_tensor(header: TensorHeader) -> dict[str, Any]:
    return {"encoding": "torch_tensor", "dtype": header.dtype, "shape": list(header.shape)}


def _bytes_of(array: Any, numpy: Any) -> memoryview:
    return memoryview(array.reshape(-1).view(numpy.uint8)) if array.nbytes else memoryview(b"")
