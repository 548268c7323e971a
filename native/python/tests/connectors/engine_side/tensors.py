# SPDX-License-Identifier: Apache-2.0
"""As much of torch as connectors need that move bytes: memory with an address, a shape and a type of elements.

torch itself would be fetched with the libraries of CUDA that the index's wheel insists on, gigabytes for these few methods.
"""

from __future__ import annotations

import math

import numpy
from stand_in import stand_in, unused


class DType:
    def __init__(self, name: str, numpy_type: type) -> None:
        self.name, self.numpy_type = name, numpy_type
        self.itemsize = numpy.dtype(numpy_type).itemsize

    def __repr__(self) -> str:
        return f"torch.{self.name}"


FLOAT16 = DType("float16", numpy.float16)
INT64 = DType("int64", numpy.int64)
UINT8 = DType("uint8", numpy.uint8)
# Of the others connectors have tables; only the names count.
_OTHERS = {
    name: DType(name, numpy_type)
    for name, numpy_type in {
        "bfloat16": numpy.uint16,
        "bool": numpy.bool_,
        "float32": numpy.float32,
        "float64": numpy.float64,
        "float8_e4m3fn": numpy.uint8,
        "float8_e5m2": numpy.uint8,
        "int8": numpy.int8,
        "int16": numpy.int16,
        "int32": numpy.int32,
    }.items()
}


class Size(tuple):
    def numel(self) -> int:
        return math.prod(self)


class Storage:
    def __init__(self, array: numpy.ndarray) -> None:
        while isinstance(array.base, numpy.ndarray):
            array = array.base
        self._array = array

    def data_ptr(self) -> int:
        return self._array.ctypes.data

    def nbytes(self) -> int:
        return self._array.nbytes


class Tensor:
    """A view of a numpy array."""

    device = 0

    def __init__(self, array: numpy.ndarray, dtype: DType) -> None:
        assert array.dtype == dtype.numpy_type
        self.array, self.dtype = array, dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def nbytes(self) -> int:
        return self.array.nbytes

    def stride(self, dimension: int | None = None) -> int | tuple[int, ...]:
        strides = tuple(stride // self.dtype.itemsize for stride in self.array.strides)
        return strides if dimension is None else strides[dimension]

    def untyped_storage(self) -> Storage:
        return Storage(self.array)

    def data_ptr(self) -> int:
        return self.array.ctypes.data

    def numel(self) -> int:
        return self.array.size

    def is_contiguous(self) -> bool:
        return bool(self.array.flags.c_contiguous)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def flatten(self) -> Tensor:
        return Tensor(self.array.reshape(-1), self.dtype)

    def view(self, wanted: DType | Size) -> Tensor:
        if isinstance(wanted, DType):
            return Tensor(self.array.view(wanted.numpy_type), wanted)
        return Tensor(self.array.reshape(wanted), self.dtype)

    def copy_(self, other: Tensor) -> Tensor:
        assert other.dtype is self.dtype
        self.array[:] = other.array
        return self

    def tolist(self) -> list:
        return self.array.tolist()

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, index: object) -> Tensor:
        return Tensor(self.array[index], self.dtype)


class Event:
    """Of a device. What is in host memory is done when the call that wrote it returns."""

    def record(self) -> None:
        pass

    def synchronize(self) -> None:
        pass


def _frombuffer(buffer: object, *, dtype: DType, offset: int = 0, count: int = -1) -> Tensor:
    return Tensor(numpy.frombuffer(buffer, dtype.numpy_type, count, offset), dtype)


def _tensor(values: list[int], *, dtype: DType, device: object) -> Tensor:
    return Tensor(numpy.array(values, dtype.numpy_type), dtype)


def install_torch() -> None:
    types = {"float16": FLOAT16, "half": FLOAT16, "int64": INT64, "uint8": UINT8, **_OTHERS}
    types |= {"float": types["float32"], "double": types["float64"]}
    tensors = {
        "Size": Size,
        "Tensor": Tensor,
        "TensorType": Tensor,
        "dtype": DType,
        "frombuffer": _frombuffer,
        "tensor": _tensor,
    }
    stand_in("torch", device=str, no_grad=lambda: lambda function: function, **tensors, **types)
    stand_in("torch.cuda", Event=Event, **unused("MemPool"))
