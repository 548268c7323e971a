# SPDX-License-Identifier: Apache-2.0
"""Python values as bytes, and back; and bytes that are none."""

import contextlib
import random
from types import ModuleType
from typing import Any

import numpy
import pytest
from torch_stand_in import tensor_of

from mooncake.objects import values
from mooncake.objects.values import decode, encode


def same(one: Any, other: Any) -> bool:
    """Of one type, in all of it."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, numpy.ndarray):
        return (one.dtype, one.shape) == (other.dtype, other.shape) and same([one.tolist()], [other.tolist()])
    return bool(one == other) or (one != one and other != other)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, False, 0, -1, 255, -(1 << 70), 1 << 4000, 0.5, float("nan"), float("-inf"), 2 - 3j),
        *(
            "",
            "text",
            "\u00e4\U0001f600\ud800",
            b"",
            b"\x00\xff",
            [],
            [1, [2, ("three", None)]],
            (),
            {},
            {"a": {1: [b"x"]}},
        ),
        *(numpy.float32(1.5), numpy.bool_(True), numpy.str_("s"), numpy.datetime64("2026-01-02")),
        *(numpy.str_(""), numpy.array(["", ""]), numpy.array(["a", ""])[1]),
        *(
            numpy.arange(6, dtype="int16").reshape(2, 3).T,
            numpy.empty((0, 3)),
            numpy.array(7),
            numpy.array(["a", "bc"]),
        ),
        numpy.array([None, [1], "x", {"k": numpy.arange(2)}], dtype=object),
        {("a", 1): [numpy.int8(3), {"deep": [[[[]]]]}]},
    ],
)
def test_values(value: Any) -> None:
    assert same(decode(encode(value)), value)


def test_tensors_and_what_was_read_may_be_written_to(torch: ModuleType) -> None:
    tensor = tensor_of(torch, "bfloat16", (3, 5))
    found = decode(memoryview(encode({"tensor": tensor, "array": numpy.zeros(3)})))
    assert found["tensor"] == tensor
    found["array"][1] = 1


def test_images() -> None:
    from PIL import Image

    for mode in values._MODES:
        for size in ((8, 3), (13, 5), (0, 3), (3, 0)):
            image = Image.new(mode, size)
            image.frombytes(random.Random(mode).randbytes(len(image.tobytes())))
            found = decode(encode([image]))[0]
            assert (found.mode, found.size, found.tobytes()) == (mode, size, image.tobytes())
    with pytest.raises(TypeError, match=r"mode 'P'.*convert"):
        encode(Image.new("P", (2, 2)))
    with pytest.raises(ValueError, match="no pixels"):
        encode(Image.new("L", (0, 1 << 17)))


def test_an_image_takes_no_memory_before_all_its_bytes_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import Image

    asked: list[Any] = []
    monkeypatch.setattr(Image, "frombytes", lambda *arguments: asked.append(arguments))
    for mode, width, height in (("RGB", 1 << 30, 1 << 30), ("L", 1 << 31, 4), ("F", 1, 4), ("L", 1, 2)):
        with pytest.raises(ValueError, match="bytes are no image"):
            decode(b"I" + encode((mode, width, height)) + encode(b"xxx"))
    assert asked == []


def test_what_cannot_be_stored() -> None:
    nested: list[Any] = []
    for _ in range(70):
        nested = [nested]
    with pytest.raises(ValueError, match="nested more than 64"):
        encode(nested)
    for value in (object(), {1, 2}, test_values, numpy.zeros(2, dtype=[("a", "i4"), ("b", "O")]), [range(3)]):
        with pytest.raises(TypeError, match="cannot be stored"):
            encode(value)


@pytest.mark.parametrize(
    "data",
    [
        *(
            b"",
            b"?",
            b"n ",
            b"d123",
            b"i",
            b"s\xff",
            b"l\xff\xff\xff\xff\xff\xff\xff\xff",
            b"m\x01\0\0\0\0\0\0\0nn" + b"n",
        ),
        *(
            b"s\x01\0\0\0\0\0\0\0\xff",
            b"m\x01\0\0\0\0\0\0\0l\0\0\0\0\0\0\0\0n",
            b"T\0\0\0\0\0\0\0\0",
            b"l\x01\0\0\0\0\0\0\0" * 70,
        ),
        *(b"a" + encode(["<i4", 2]) + encode(b"123"), b"a" + encode(["O", 1]) + encode(b"12345678")),
        *(b"a" + encode(["<i4", -1]) + encode(b""), b"a" + encode([]) + encode(b""), b"a" + encode(5) + encode(b"")),
        *(b"a" + encode(["nonsense", 1]) + encode(b"1"), b"g" + encode(["<i4", 1 << 70]) + encode(b"")),
        *(
            b"o" + encode([1 << 40]),
            b"o" + encode([2]) + b"n",
            b"I" + encode(("RGB", 2)),
            b"I" + encode(("P", 1, 1)) + encode(b"x"),
        ),
        *(b"I" + encode(("L", 2, 2)) + encode(b"x"), b"I" + encode(("L", -2, 1)) + encode(b"xx")),
        *(b"I" + encode(("L", 2, 2.0)) + encode(b"1234"), b"I" + encode(("L", True, 1)) + encode(b"x")),
        *(b"I" + encode(("1", 9, 2)) + encode(b"123"), b"I" + encode((["L"], 1, 1)) + encode(b"x")),
        *(b"I" + encode(("L", 0, 1 << 30)) + encode(b""), b"I" + encode(("L", 1 << 70, 0)) + encode(b"")),
        *(b"a" + encode(["|S0", 5]) + encode(b""), b"a" + encode(["<U0", 1 << 40]) + encode(b"")),
        *(b"g" + encode(["<U0"]) + encode(b""), b"a" + encode(["<U00", 5]) + encode(b"")),
        *(b"a" + encode({"<i4": 5}) + encode(b""), b"I" + encode({}) + encode(b"")),
        *(b"a" + encode(["<i4", 0, 1 << 70]) + encode(b""), b"a" + encode(["<i4", *[0] * 70]) + encode(b"")),
    ],
)
def test_bytes_that_are_no_value(torch: ModuleType, data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        decode(data)


def test_damaged_bytes_are_a_value_or_an_error(torch: ModuleType) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    made = encode({"a": [1, "text", numpy.arange(4), (b"bytes", None)], "t": tensor_of(torch, "int8", (4,))})
    for _ in range(3000):
        damaged = bytearray(made[: chance.randrange(len(made) + 1)] if chance.random() < 0.3 else made)
        for _ in range(chance.randrange(1, 4) if damaged else 0):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        with contextlib.suppress(ValueError):
            decode(bytes(damaged))
