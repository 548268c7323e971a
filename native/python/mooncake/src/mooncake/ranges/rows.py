# SPDX-License-Identifier: Apache-2.0
"""What a call of a session asks of one value: pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

_ADDRESSES = 1 << 64


@dataclass(frozen=True, slots=True)
class Row:
    """Pieces of the application's memory, and where in the value the bytes of each belong."""

    addresses: Sequence[int]
    sizes: Sequence[int]
    offsets: Sequence[int]

    def problem(self, length: int) -> str | None:
        """Why a value of that length does not have these pieces; None when it has."""
        if not len(self.addresses) == len(self.sizes) == len(self.offsets):
            return f"{len(self.addresses)} addresses, {len(self.sizes)} sizes and {len(self.offsets)} offsets"
        for address, size, offset in zip(self.addresses, self.sizes, self.offsets, strict=True):
            if min(address, size, offset) < 0 or offset + size > length or address + size > _ADDRESSES:
                return f"{size} bytes at {offset} to or from {address} are not inside a value of {length} bytes"
        return None

    def copies(self, base: int) -> list[tuple[int, int, int]]:
        """For a value that lies at an address: the application's address, ours, and how many bytes."""
        return [
            (address, base + offset, size)
            for address, size, offset in zip(self.addresses, self.sizes, self.offsets, strict=True)
        ]

    @property
    def bytes(self) -> int:
        return sum(self.sizes)
