# SPDX-License-Identifier: Apache-2.0
"""How tensors are objects and files."""

import json
import random
import struct
from pathlib import Path

import pytest

from mooncake.tensors.safetensor_file import read_tensor, write_tensor
from mooncake.tensors.shards import Cut, Shard
from mooncake.tensors.tensor_format import TensorHeader, decode


@pytest.mark.parametrize("shape", [(), (1,), (3, 4), (2, 3, 4, 5), (1,) * 5, (0,), (3, 0, 2), (2,) * 20])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2", "bool", "complex128"])
def test_a_header_survives(dtype: str, shape: tuple[int, ...]) -> None:
    header = TensorHeader(dtype, shape)
    assert decode(header.encode() + bytes(header.data_bytes)) == header
    assert len(header.encode()) == header.header_bytes == (40 if len(shape) <= 4 else 8 + 8 * len(shape))


def test_the_bytes_of_a_header() -> None:
    assert TensorHeader("bfloat16", (2, 3)).encode() == struct.pack("<iiqqqq", 12, 2, 2, 3, -1, -1)


SHARD = Shard(Cut(1, 2, 3), 8)


@pytest.mark.parametrize("shape", [(4, 2), (2, 2, 2, 2, 2, 2)])
def test_a_header_says_which_part_it_is(shape: tuple[int, ...]) -> None:
    header = TensorHeader("float16", shape, SHARD)
    assert decode(header.encode() + bytes(header.data_bytes)) == header
    assert header.encode()[-32:] == struct.pack("<qqqq", 1, 2, 3, 8)
    assert header.header_bytes == TensorHeader("float16", shape).header_bytes + 32


@pytest.mark.parametrize("wrong", [(1, 2, 3, 9), (0, 2, 3, 8), (2, 2, 3, 8), (1, 3, 3, 8), (1, 2, 0, 8), (1, 2, 3, -1)])
def test_a_part_that_cannot_be(wrong: tuple[int, ...]) -> None:
    good = TensorHeader("float16", (4, 2), SHARD).encode()
    with pytest.raises(ValueError, match=r"part|shape"):
        decode(good[:-32] + struct.pack("<qqqq", *wrong) + bytes(16))
    with pytest.raises(ValueError, match="no tensor"):
        decode(good[:-1])


@pytest.mark.parametrize(
    ("dtype", "shape"), [("quint8", (1,)), ("float32", (-1,)), ("float32", (1 << 62,)), ("float32", (1,) * 65)]
)
def test_what_cannot_be_kept(dtype: str, shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="tensor"):
        TensorHeader(dtype, shape)


GOOD = TensorHeader("int16", (2, 3)).encode() + bytes(12)
PART = TensorHeader("int16", (2, 3), Shard(Cut(1, 0, 2), 6)).encode() + bytes(12)


@pytest.mark.parametrize(
    "value",
    [
        b"",
        bytes(39),
        GOOD[:-1],
        GOOD + b"x",
        struct.pack("<i", 99) + GOOD[4:],
        struct.pack("<i", -1) + GOOD[4:],
        GOOD[:4] + struct.pack("<i", -1) + GOOD[8:],
        GOOD[:4] + struct.pack("<i", 64) + GOOD[8:],
        GOOD[:4] + struct.pack("<i", 65) + GOOD[8:],
        GOOD[:8] + struct.pack("<q", -2) + GOOD[16:],
        GOOD[:8] + struct.pack("<q", 1 << 62) + GOOD[16:],
    ],
)
def test_values_that_are_no_tensors(value: bytes) -> None:
    with pytest.raises(ValueError, match=r"tensor"):
        decode(value)


@pytest.mark.parametrize("seed", range(60))
def test_any_bytes_are_a_tensor_or_refused(seed: int) -> None:
    chance = random.Random(seed)
    value = bytearray(chance.choice([GOOD, PART]))
    for _ in range(chance.randrange(1, 4)):
        value[chance.randrange(len(value) - 12)] = chance.randrange(256)
    try:
        header = decode(value)
    except ValueError:
        return
    assert header.header_bytes + header.data_bytes == len(value)


# ---- files


def test_a_file_has_the_tensor(tmp_path: Path) -> None:
    path, header, data = tmp_path / "t.safetensors", TensorHeader("bfloat16", (2, 3)), bytes(range(12))
    write_tensor(path, "weight", header, data)
    length, index = struct.unpack_from("<Q", path.read_bytes())[0], path.read_bytes()[8:]
    assert length % 8 == 0
    assert json.loads(index[:length]) == {"weight": {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}}
    assert index[length:] == data
    for name, key in (("weight", "k"), (None, "weight"), (None, "the only one")):
        assert read_tensor(path, name, key) == (header, data)
    assert [file.name for file in tmp_path.iterdir()] == ["t.safetensors"]


def file_of(index: object, data: bytes = b"") -> bytes:
    text = json.dumps(index).encode()
    return struct.pack("<Q", len(text)) + text + data


ONE = {"dtype": "I8", "shape": [2], "data_offsets": [0, 2]}


def test_one_of_several(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(file_of({"__metadata__": {"a": "b"}, "a": ONE, "b": {**ONE, "data_offsets": [2, 4]}}, b"abcd"))
    assert read_tensor(path, "b", "a") == (TensorHeader("int8", (2,)), b"cd")
    assert read_tensor(path, None, "a") == (TensorHeader("int8", (2,)), b"ab")
    for name in (None, "c", "__metadata__"):
        with pytest.raises(ValueError, match="no tensor"):
            read_tensor(path, name, "k")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        bytes(7),
        bytes(8),
        struct.pack("<Q", 1 << 60),
        struct.pack("<Q", 9) + b"{}",
        struct.pack("<Q", 2) + b"{x",
        file_of([]),
        file_of({}),
        file_of({"a": None}),
        file_of({"a": {}}),
        file_of({"a": {**ONE, "dtype": "Q7"}}, b"ab"),
        file_of({"a": {**ONE, "dtype": [1]}}, b"ab"),
        file_of({"a": {**ONE, "shape": [-2]}}, b"ab"),
        file_of({"a": {**ONE, "shape": 2}}, b"ab"),
        file_of({"a": {**ONE, "shape": [3]}}, b"abc"),
        file_of({"a": {**ONE, "data_offsets": [0]}}, b"ab"),
        file_of({"a": {**ONE, "data_offsets": [-1, 1]}}, b"ab"),
        file_of({"a": {**ONE, "data_offsets": [2, 0]}}, b"ab"),
        file_of({"a": ONE}, b"a"),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t"
    path.write_bytes(content)
    with pytest.raises(ValueError):
        read_tensor(path, None, "a")


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    with pytest.raises(OSError):
        write_tensor(tmp_path / "there", "a", TensorHeader("int8", (1,)), b"x")
    with pytest.raises(ValueError, match="safetensors has no name"):
        write_tensor(tmp_path / "t", "a", TensorHeader("complex128", (1,)), bytes(16))
    assert [file.name for file in tmp_path.iterdir()] == ["there"]
