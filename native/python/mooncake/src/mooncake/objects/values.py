# SPDX-License-Identifier: Apache-2.0
"""Python values as bytes that say what they are, and back: what JSON knows, and bytes, tuples, complex and whole numbers of any
size, arrays and numbers of numpy, tensors of torch, images of Pillow. Nothing is executed when they are read.

A value is a letter and what belongs to it; counts and lengths are 8 bytes, little-endian.
"""

from __future__ import annotations

import math
import re
import struct
import sys
from collections.abc import Mapping
from typing import Any

from mooncake.methods.tensor_values import tensor_of, value_of

_DEPTH_MAX = 64
_COUNT = struct.Struct("<Q")
# Types of numpy that are what their name says: no structures, no objects, no types of other libraries.
_DTYPE = re.compile(r"[<>|=][biufcmMSU][1-9][0-9]{0,8}(\[[0-9]{0,9}[a-zA-Z]+\])?")
_FLOAT = struct.Struct("<d")
_COMPLEX = struct.Struct("<dd")
# Modes of images that are their pixels and nothing else, such as a palette; with the bits of a pixel. Rows are whole bytes.
_MODES = {"1": 1, "L": 8, "LA": 16, "La": 16, "I;16": 16, "RGB": 24, "YCbCr": 24, "LAB": 24, "HSV": 24} | dict.fromkeys(
    ("RGBA", "RGBX", "RGBa", "CMYK", "I", "F"), 32
)
# An image without pixels has no bytes that bound its sides, and Pillow keeps an address for each row.
_SIDE_WITHOUT_PIXELS_MAX = 1 << 16


def encode(value: Any) -> bytes:
    """TypeError for what has no bytes here, ValueError for what is nested too deeply, and for images of no pixels and a side
    of more than 65536."""
    out = bytearray()
    _write(out, value, 0)
    return bytes(out)


def decode(data: bytes | memoryview) -> Any:
    """ValueError for what encode() did not make, and for bytes left over."""
    reader = _Reader(memoryview(data).cast("B"))
    try:
        value = reader.value(0)
    except (TypeError, AttributeError, LookupError, OverflowError, struct.error) as problem:
        raise ValueError(f"{len(data)} bytes are no value: {problem}") from problem
    if reader.at != len(reader.data):
        raise ValueError(f"{len(reader.data) - reader.at} bytes are left over after a value")
    return value


def is_image(value: Any) -> bool:
    """Whether it is an image of Pillow, which is not imported for that."""
    image = sys.modules.get("PIL.Image")
    return image is not None and isinstance(value, image.Image)


def is_tensor(value: Any) -> bool:
    """Whether it is a tensor of torch, which is not imported for that."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _write(out: bytearray, value: Any, depth: int) -> None:
    if depth > _DEPTH_MAX:
        raise ValueError(f"a value that is nested more than {_DEPTH_MAX} times")
    if value is None or isinstance(value, bool):
        out += {None: b"n", True: b"t", False: b"f"}[value]
    elif type(value) is int:
        _text(out, b"i", value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True))
    elif type(value) is float:
        out += b"d" + _FLOAT.pack(value)
    elif type(value) is complex:
        out += b"c" + _COMPLEX.pack(value.real, value.imag)
    elif type(value) is str:
        _text(out, b"s", value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, bytes | bytearray | memoryview):
        _text(out, b"b", bytes(value))
    elif type(value) in (list, tuple):
        out += (b"l" if type(value) is list else b"u") + _COUNT.pack(len(value))
        for one in value:
            _write(out, one, depth + 1)
    elif isinstance(value, Mapping):
        out += b"m" + _COUNT.pack(len(value))
        for key, one in value.items():
            _write(out, key, depth + 1)
            _write(out, one, depth + 1)
    elif is_tensor(value):
        _text(out, b"T", bytes(value_of(value)))
    elif is_image(value):
        if value.mode not in _MODES:
            raise TypeError(f"an image of mode {value.mode!r}: convert() it to one of {', '.join(sorted(_MODES))}")
        _bytes_of_image(value.mode, *value.size)
        out += b"I"
        _write(out, (value.mode, *value.size), depth + 1)
        _text(out, b"b", value.tobytes())
    else:
        _write_of_numpy(out, value, depth)


def _write_of_numpy(out: bytearray, value: Any, depth: int) -> None:
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.ndarray | numpy.generic):
        raise TypeError(
            f"a {type(value).__name__} cannot be stored: convert it to what JSON or numpy knows, or to bytes"
        )
    if value.dtype == object:
        out += b"o"
        _write(out, list(value.shape), depth + 1)
        for one in value.flat:
            _write(out, one, depth + 1)
        return
    letter = b"a" if isinstance(value, numpy.ndarray) else b"g"
    if value.dtype.kind in "SU" and not value.dtype.itemsize:  # numpy.str_("") and its like
        value = numpy.asarray(value, f"{value.dtype.kind}1")
    if not _DTYPE.fullmatch(value.dtype.str):
        raise TypeError(
            f"an array of {value.dtype} cannot be stored: give its columns one by one, or a view of another type"
        )
    out += letter
    _write(out, [value.dtype.str, *value.shape], depth + 1)
    _text(out, b"b", value.tobytes())


def _bytes_of_image(mode: str, width: Any, height: Any) -> int:
    if not all(type(side) is int and side >= 0 for side in (width, height)):
        raise ValueError(f"an image of {width!r} x {height!r}")
    if not (width and height) and max(width, height) > _SIDE_WITHOUT_PIXELS_MAX:
        raise ValueError(f"an image of {width} x {height}, which is no pixels")
    return (width * _MODES[mode] + 7) // 8 * height


def _text(out: bytearray, letter: bytes, data: bytes) -> None:
    out += letter + _COUNT.pack(len(data))
    out += data


class _Reader:
    """Bytes of which nothing is trusted."""

    def __init__(self, data: memoryview) -> None:
        self.data, self.at = data, 0

    def value(self, depth: int) -> Any:
        if depth > _DEPTH_MAX:
            raise ValueError(f"a value that is nested more than {_DEPTH_MAX} times")
        letter = bytes(self._take(1))
        if letter in b"ntf":
            return {b"n": None, b"t": True, b"f": False}[letter]
        if letter == b"d":
            return _FLOAT.unpack(self._take(8))[0]
        if letter == b"c":
            return complex(*_COMPLEX.unpack(self._take(16)))
        if letter in b"isbT":
            return self._of_bytes(letter, self._take(self._count()))
        if letter in b"lum":
            return self._of_many(letter, self._count(), depth)
        if letter == b"I":
            return self._image(depth)
        if letter in b"oag":
            return self._of_numpy(letter, depth)
        raise ValueError(f"a value of kind {letter!r}")

    @staticmethod
    def _of_bytes(letter: bytes, data: memoryview) -> Any:
        if letter == b"i":
            return int.from_bytes(data, "little", signed=True)
        if letter == b"s":
            return str(data, "utf-8", "surrogatepass")
        return bytes(data) if letter == b"b" else tensor_of(bytearray(data))

    def _of_many(self, letter: bytes, count: int, depth: int) -> Any:
        if count > len(self.data) - self.at:
            raise ValueError(f"{count} values in {len(self.data) - self.at} bytes")
        if letter == b"m":
            return {self.value(depth + 1): self.value(depth + 1) for _ in range(count)}
        values = [self.value(depth + 1) for _ in range(count)]
        return values if letter == b"l" else tuple(values)

    def _of_numpy(self, letter: bytes, depth: int) -> Any:
        import numpy  # type: ignore[import-not-found, unused-ignore]

        said = self.value(depth + 1)
        dtype, shape = ("O", said) if letter == b"o" else (said[0], said[1:])
        if not all(type(number) is int and number >= 0 for number in shape):
            raise ValueError(f"an array of shape {shape!r}")
        if letter == b"o":
            if math.prod(shape) > len(self.data) - self.at:
                raise ValueError(f"an array of shape {shape} in {len(self.data) - self.at} bytes")
            array = numpy.empty(math.prod(shape), object)
            for at in range(len(array)):
                array[at] = self.value(depth + 1)
            return array.reshape(shape)
        if not _DTYPE.fullmatch(str(dtype)):
            raise ValueError(f"an array of {dtype!r}")
        kind, data = numpy.dtype(dtype), self.value(depth + 1)
        if type(data) is not bytes or len(data) != kind.itemsize * math.prod(shape):
            raise ValueError(f"{len(data)} bytes are no array of {dtype} and shape {shape}")
        array = numpy.frombuffer(bytearray(data), kind) if data else numpy.empty(math.prod(shape), kind)
        return array.reshape(shape) if letter == b"a" else array[0]

    def _image(self, depth: int) -> Any:
        mode, width, height = self.value(depth + 1)
        data = self.value(depth + 1)
        if mode not in _MODES or type(data) is not bytes:
            raise ValueError(f"an image of mode {mode!r}")
        # Before Pillow takes memory for all pixels.
        if len(data) != _bytes_of_image(mode, width, height):
            raise ValueError(f"{len(data)} bytes are no image of mode {mode} and {width} x {height}")
        from PIL import Image  # type: ignore[import-not-found, unused-ignore]

        return Image.frombytes(mode, (width, height), data)

    def _count(self) -> int:
        return int(_COUNT.unpack(self._take(8))[0])

    def _take(self, length: int) -> memoryview:
        if length > len(self.data) - self.at:
            raise ValueError(f"{length} bytes where {len(self.data) - self.at} are left")
        taken = self.data[self.at : self.at + length]
        self.at += length
        return taken
