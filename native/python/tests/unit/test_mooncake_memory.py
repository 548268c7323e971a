# SPDX-License-Identifier: Apache-2.0
"""mooncake.store: memory for engines, and where it comes from."""

import ctypes
import os
from pathlib import Path

import pytest

from mooncake.memory import numa
from mooncake.store import MooncakeHostMemAllocator, bind_to_numa_node, get_alloc_func_addr, get_free_func_addr


def test_memory_of_the_host() -> None:
    allocator = MooncakeHostMemAllocator()
    address = allocator.alloc(10_000)
    assert address % 4096 == 0
    assert ctypes.string_at(address, 10_000) == bytes(10_000)
    ctypes.memset(address, 7, 10_000)
    assert allocator.alloc(1) != address
    assert [allocator.free(address), allocator.free(address), allocator.free(0)] == [0, -1, -1]


@pytest.mark.parametrize("size", [0, -1, 1 << 62, 1 << 70])
def test_memory_that_cannot_be_had(size: int, caplog: pytest.LogCaptureFixture) -> None:
    assert MooncakeHostMemAllocator().alloc(size) == 0
    assert str(size) in caplog.text


def test_child_processes_share_it() -> None:
    allocator = MooncakeHostMemAllocator()
    address = allocator.alloc(4096)
    child = os.fork()
    if child == 0:
        ctypes.memset(address, 7, 1)
        os._exit(0)
    os.waitpid(child, 0)
    assert ctypes.string_at(address, 1) == b"\x07"


def test_functions_by_address() -> None:
    alloc = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t)(get_alloc_func_addr())
    free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(get_free_func_addr())
    address = alloc(10_000)
    assert address and address % 4096 == 0
    ctypes.memset(address, 7, 10_000)
    free(address)


@pytest.mark.parametrize(
    ("text", "numbers"), [("0-3,8\n", {0, 1, 2, 3, 8}), ("5", {5}), ("\n", set()), ("0,2-2", {0, 2})]
)
def test_lists_of_processors(text: str, numbers: set[int]) -> None:
    assert numa._parse_list(text) == numbers


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One with a node 0 that has one of our processors."""
    (tmp_path / "node0").mkdir()
    (tmp_path / "node0" / "cpulist").write_text(f"{min(os.sched_getaffinity(0))}\n")
    monkeypatch.setattr(numa, "_NODES", tmp_path)
    return tmp_path


def test_a_thread_is_bound(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    preferred = []
    monkeypatch.setattr(numa, "_prefer_memory", preferred.append)
    before = os.sched_getaffinity(0)
    try:
        assert bind_to_numa_node(0) is None
        assert os.sched_getaffinity(0) == {min(before)}
        assert preferred == [0]
    finally:
        os.sched_setaffinity(0, before)


@pytest.mark.parametrize("node", [-1, 1, 1 << 40, "../node0"])
def test_a_node_that_is_none(machine: Path, node: int, caplog: pytest.LogCaptureFixture) -> None:
    before = os.sched_getaffinity(0)
    bind_to_numa_node(node)
    assert os.sched_getaffinity(0) == before
    assert "bind_to_numa_node" in caplog.text


def test_what_the_kernel_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    class Libc:
        def syscall(self, number: int, mode: int, words: ctypes.Array, bits: ctypes.c_ulong) -> int:
            calls.append((number, mode, list(words), bits.value))
            return 0

    monkeypatch.setattr(numa.ctypes, "CDLL", lambda *_, **__: Libc())
    monkeypatch.setattr(numa.platform, "machine", lambda: "aarch64")
    numa._prefer_memory(3)
    numa._prefer_memory(65)
    assert calls == [(237, 1, [8], 65), (237, 1, [0, 2], 129)]
    monkeypatch.setattr(numa.platform, "machine", lambda: "z80")
    with pytest.raises(OSError, match="z80"):
        numa._prefer_memory(0)
