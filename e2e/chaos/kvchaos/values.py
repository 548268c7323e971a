# SPDX-License-Identifier: Apache-2.0
"""Values that say which put they come from, so that bytes of another key, another put or of none are recognised."""

import hashlib
import struct
from dataclasses import dataclass

_MAGIC = b"kvchaos\x01"
_HEADER = struct.Struct("<8sIQQ16s")  # magic, writer, number, length, digest of the key
HEADER_BYTES = _HEADER.size

FOREIGN = "foreign"


@dataclass(frozen=True)
class Mark:
    """The identity of a put: which process made it, and its number there."""

    writer: int
    number: int


def make(key: str, mark: Mark, size: int) -> bytes:
    """`size` bytes of this put. What is shorter than a header is a piece of a digest, or nothing: see identity()."""
    header = _HEADER.pack(_MAGIC, mark.writer, mark.number, size, _digest(key))
    if size < HEADER_BYTES:
        return hashlib.shake_128(header).digest(size)
    # A stream that repeats nowhere: bytes moved within a value, or from another one, do not go unnoticed.
    return header + hashlib.shake_128(header).digest(size - HEADER_BYTES)


def identity(key: str, value: bytes) -> str:
    """What a history says of a value: "WRITER.NUMBER" of the put that made exactly these bytes for exactly this key,
    "=HEX" for one too short to tell, or FOREIGN."""
    if len(value) < HEADER_BYTES:
        return "=" + value.hex()
    magic, writer, number, _, _ = _HEADER.unpack_from(value)
    mark = Mark(writer, number)
    if magic != _MAGIC or make(key, mark, len(value)) != value:
        return FOREIGN
    return f"{writer}.{number}"


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode(), digest_size=16).digest()
