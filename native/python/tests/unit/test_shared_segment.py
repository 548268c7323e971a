# SPDX-License-Identifier: Apache-2.0
"""Memory that processes have together."""

import ctypes
import gc
import glob
import subprocess
import sys
from typing import Any

import pytest

from mooncake.engine import SharedSegment

OTHER = """
import ctypes, sys
from mooncake.engine import SharedSegment
segment, blob = SharedSegment.create("kv", 10000, 2, 1)
print(blob.hex(), flush=True)
segment.complete([bytes.fromhex(sys.stdin.readline()), blob])
print(ctypes.string_at(segment.base_addr() + 9000, 5).decode(), flush=True)
ctypes.memmove(segment.base_addr(), b"there", 5)
print(segment.ready(), flush=True)
"""


def files() -> list[str]:
    return glob.glob("/dev/shm/kvpool-shared-*")


def test_processes_have_the_same_bytes() -> None:
    before = files()
    segment, blob = SharedSegment.create("kv", 10_000, 2, 0)
    assert (segment.ready(), segment.base_addr(), segment.size(), segment.device_addr()) == (False, 0, 10_000, 0)
    command = [sys.executable, "-c", OTHER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        blobs = [blob, bytes.fromhex(other.stdout.readline())]
        assert len(blobs[0]) == len(blobs[1]), "they are gathered as tensors of one size"
        segment.complete(blobs)
        ctypes.memmove(segment.base_addr() + 9000, b"hello", 5)
        other.stdin.write(blob.hex() + "\n")
        other.stdin.flush()
        assert other.stdout.readline() == "hello\n"
        assert other.stdout.readline() == "True\n"
    assert ctypes.string_at(segment.base_addr(), 6) == b"there\0"
    assert len(files()) == len(before) + 1, "while the owner has it"
    with pytest.raises(RuntimeError, match="called already"):
        segment.complete(blobs)
    del segment
    gc.collect()
    assert files() == before


def test_one_process_alone() -> None:
    segment, blob = SharedSegment.create("kv", 1, 1, 0)
    segment.complete([blob])
    assert segment.ready() and ctypes.string_at(segment.base_addr(), 1) == b"\0"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        *((("s", 0, 1, 0), "size is 0"), (("s", -1, 1, 0), "size is -1"), (("s", 1 << 60, 1, 0), "size is")),
        *(
            (("s", 1, 1, 1), "below world_size"),
            (("s", 1, 1, 0, 1), "below world_size"),
            (("s", 1, 0, 0), "below world_size"),
        ),
        *((("s", 1, 1, -1), "below world_size"), (("s", 1, 1, 0, 0, 0, False), "mmap must be True")),
        (("s", 1, 1, 0, 0, 0, True, True), "host_register False"),
        (("s", 1 << 45, 1, 0), "cannot be made"),
    ],
)
def test_what_cannot_be_made(arguments: Any, why: str) -> None:
    before = files()
    with pytest.raises(RuntimeError, match=why):
        SharedSegment.create(*arguments)
    assert files() == before
    with pytest.raises(TypeError, match="create"):
        SharedSegment()


def test_processes_that_do_not_agree() -> None:
    owner, blob = SharedSegment.create("kv", 4096, 2, 0)
    for other in (("other", 4096, 2, 1), ("kv", 8192, 2, 1), ("kv", 4096, 3, 1), ("kv", 4096, 2, 1, 1)):
        segment, given = SharedSegment.create(*other)
        with pytest.raises(RuntimeError, match=r"another name, size|there are 3"):
            segment.complete([blob, given])
    reader, given = SharedSegment.create("kv", 4096, 2, 1)
    stranger = blob[:-64] + b"../../etc/passwd".ljust(64, b"\0")
    gone = blob[:-64] + b"kvpool-shared-" + b"0" * 32 + b"\0" * 18
    for blobs, why in (
        *(
            ([], "of 0 processes"),
            ([blob], "of 1 processes"),
            ([given, blob], "rank 0 gave"),
            ([blob, b"x"], "rank 1 gave"),
        ),
        *(([blob, "text"], "rank 1 gave"), ([stranger, given], "named no memory"), ([gone, given], "cannot be opened")),
        ([b"X" + blob[1:], given], "rank 0 gave"),
    ):
        with pytest.raises(RuntimeError, match=why):
            reader.complete(blobs)
        assert not reader.ready() and reader.base_addr() == 0
    reader.complete([blob, given])
    owner.complete([blob, given])
    assert reader.ready()
