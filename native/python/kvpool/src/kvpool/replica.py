# SPDX-License-Identifier: Apache-2.0
"""Where copies of objects are."""

from dataclasses import dataclass
from enum import IntEnum


class Medium(IntEnum):
    DRAM = 1
    SSD = 3


@dataclass(frozen=True, slots=True)
class Replica:
    """One copy of an object: on the storage node with this id, which serves clients at `address` (HOST:PORT). `length` is that
    of the value, `offset` where the value begins in the node's segment of that medium."""

    node: str
    address: str
    medium: Medium
    length: int
    offset: int
