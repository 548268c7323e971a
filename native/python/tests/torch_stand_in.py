# SPDX-License-Identifier: Apache-2.0
"""As much of torch as mooncake.store uses of it. torch itself comes with the libraries of CUDA, gigabytes, on the index.

What torch does is as its documentation says: frombuffer() shares memory that may be written to and refuses no bytes,
chunk() gives views that are not contiguous, and may give fewer than it was asked for, conj() is left undone until it is resolved.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import sys
from types import ModuleType

ITEM_BYTES = {
    "float32": 4,
    "float64": 8,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "int32": 4,
    "uint32": 4,
    "int64": 8,
    "uint64": 8,
    "bool": 1,
    "float16": 2,
    "bfloat16": 2,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
    "float8_e4m3fnuz": 1,
    "float8_e5m2fnuz": 1,
    "float8_e8m0fnu": 1,
    "complex32": 4,
    "complex64": 8,
    "complex128": 16,
    "quint8": 1,
}


class DType:
    def __init__(self, name: str) -> None:
        self.name, self.itemsize = name, ITEM_BYTES[name]

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class Tensor:
    """Elements in `memory`, from `offset` on, `strides` apart, both in elements."""

    def __init__(self, memory, dtype: DType, shape, offset: int = 0, strides=None, device: str = "cpu") -> None:
        self.memory, self.dtype, self.shape, self.offset, self.device = memory, dtype, tuple(shape), offset, device
        self.lazy: frozenset[str] = frozenset()  # of "conj" and "neg": not yet done to what memory has
        self.strides = strides or [math.prod(self.shape[i + 1 :]) for i in range(len(self.shape))]

    def elements(self) -> list[bytes]:
        size, view = self.dtype.itemsize, memoryview(self.memory).cast("B")
        indices = itertools.product(*map(range, self.shape))
        places = (self.offset + sum(map(int.__mul__, at, self.strides)) for at in indices)
        found = [bytes(view[place * size : (place + 1) * size]) for place in places]
        found = [element[::-1] for element in found] if "conj" in self.lazy else found
        return [bytes(255 - byte for byte in element) for element in found] if "neg" in self.lazy else found

    def like(self, memory, lazy: frozenset[str], device: str | None = None, **view) -> Tensor:
        made = Tensor(memory, self.dtype, self.shape, device=device or self.device, **view)
        made.lazy = lazy
        return made

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self.like(self.memory, self.lazy, "cpu", offset=self.offset, strides=self.strides)

    def lazily(self, what: str) -> Tensor:
        return self.like(self.memory, self.lazy ^ {what}, offset=self.offset, strides=self.strides)

    def resolve(self, what: str) -> Tensor:
        if what not in self.lazy:
            return self
        done = self.like(self.memory, frozenset({what}), offset=self.offset, strides=self.strides)
        return self.like(bytearray(b"".join(done.elements())), self.lazy - {what})

    def resolve_conj(self) -> Tensor:
        return self.resolve("conj")

    def resolve_neg(self) -> Tensor:
        return self.resolve("neg")

    def contiguous(self) -> Tensor:
        raw = self.like(self.memory, frozenset(), offset=self.offset, strides=self.strides)
        return self.like(bytearray(b"".join(raw.elements())), self.lazy)

    def numel(self) -> int:
        return math.prod(self.shape)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        if self.device != "cpu":
            raise AssertionError("memory of a device is not read by address")
        if self.numel() == 0 or self.device == "meta":
            return 0
        return ctypes.addressof(ctypes.c_char.from_buffer(self.memory)) + self.offset * self.dtype.itemsize

    def chunk(self, parts: int, dim: int = 0) -> tuple[Tensor, ...]:
        if not -len(self.shape) <= dim < len(self.shape):
            raise IndexError(f"dimension {dim} of {len(self.shape)}")
        length = self.shape[dim]
        step = max(-(-length // parts), 1)
        chunks = []
        for begin in range(0, length, step):
            shape = list(self.shape)
            shape[dim] = min(step, length - begin)
            chunks.append(Tensor(self.memory, self.dtype, shape, self.offset + begin * self.strides[dim], self.strides))
        return tuple(chunks)

    def reshape(self, shape) -> Tensor:
        assert math.prod(shape) == self.numel()
        return Tensor(self.memory, self.dtype, shape, self.offset)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tensor)
            and (self.dtype.name, self.shape) == (other.dtype.name, other.shape)
            and self.elements() == other.elements()
        )

    __hash__ = None


def _frombuffer(buffer, *, dtype: DType, count: int, offset: int) -> Tensor:
    view = memoryview(buffer).cast("B")
    assert not view.readonly, "torch warns of memory that may not be written to"
    if len(view) == 0 or count == 0:
        raise ValueError("both buffer length and count must not be 0")
    if offset + count * dtype.itemsize > len(view):
        raise ValueError("requested buffer length is larger than the buffer")
    return Tensor(view[offset:], dtype, [count])


def _empty(shape, *, dtype: DType) -> Tensor:
    return Tensor(bytearray(math.prod(shape) * dtype.itemsize), dtype, shape)


def stand_in_torch() -> ModuleType:
    torch = ModuleType("torch")
    for name in ITEM_BYTES:
        setattr(torch, name, DType(name))
    torch.Tensor, torch.frombuffer, torch.empty = Tensor, _frombuffer, _empty
    sys.modules["torch"] = torch
    return torch


def tensor_of(torch: ModuleType, name: str, shape, seed: int = 0) -> Tensor:
    import random

    dtype = getattr(torch, name)
    return Tensor(
        bytearray(random.Random(f"{name}{shape}{seed}").randbytes(math.prod(shape) * dtype.itemsize)), dtype, shape
    )
