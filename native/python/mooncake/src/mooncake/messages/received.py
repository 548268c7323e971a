# SPDX-License-Identifier: Apache-2.0
"""What callbacks are given."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ReceivedData:
    """Bytes of a message and "HOST:PORT" of who sent it. Callbacks get a dict instead, as in the reference."""

    source_address: str = ""
    data: bytes = b""

    @property
    def data_size(self) -> int:
        return len(self.data)

    def get_bytes(self) -> bytes:
        return self.data

    def get_memory_view(self) -> memoryview:
        """Without a copy."""
        return memoryview(self.data)


@dataclass
class ReceivedTensor:
    """A tensor's type and shape, its elements in the order of rows, and "HOST:PORT" of who sent it."""

    source_address: str = ""
    shape: list[int] = field(default_factory=list)
    dtype: str = ""
    data: memoryview = field(default_factory=lambda: memoryview(b""))

    @property
    def total_bytes(self) -> int:
        return self.data.nbytes

    def get_data_size(self) -> int:
        """`total_bytes`."""
        return self.data.nbytes

    def get_data_as_bytes(self) -> bytes:
        return bytes(self.data)

    def get_memory_view(self) -> memoryview:
        """Without a copy, for torch.frombuffer() or numpy.frombuffer()."""
        return self.data
