# SPDX-License-Identifier: Apache-2.0
"""As much of torch as connectors need that move bytes: memory with an address, a shape and a type of elements.

torch itself would be fetched with the libraries of CUDA that the index's wheel insists on, gigabytes for these few methods.
"""

from __future__ import annotations

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

    def __init__(self, array: numpy.ndarray, dtype: DType) -> None:
        assert array.dtype == dtype.numpy_type
        self.array, self.dtype = array, dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

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

    def element_size(self) -> int:
        return self.dtype.itemsize

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


def install_torch() -> None:
    stand_in("torch", Tensor=Tensor, dtype=DType, float16=FLOAT16, int64=INT64, uint8=UINT8, **unused("device"))
    stand_in("torch.cuda", Event=Event, **unused("MemPool"))
