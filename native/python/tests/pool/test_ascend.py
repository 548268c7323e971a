# SPDX-License-Identifier: Apache-2.0
"""setup(protocol="ascend") with memory of NPUs, between processes that give memory to a pool and read from each other. CANN
is the fake of native/test/ascend/fake."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import cann_stand_in
import pytest
from local_pool import LocalPool

SIZE = 300_000
# A store whose registered memory is an NPU's; one that gives has memory of its own in the pool, and puts there.
PROGRAM = """
import ctypes, os, random, sys, zlib
from mooncake.store import MooncakeDistributedStore, ReplicateConfig
role, masters, key, size = *sys.argv[1:4], int(sys.argv[4])
acl = ctypes.CDLL(os.environ["KVPOOL_ASCEND_LIBRARY_DIR"] + "/libascendcl.so", ctypes.RTLD_GLOBAL)
acl.aclrtMalloc.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
memory = ctypes.c_void_p()
assert acl.aclInit(None) == acl.aclrtSetDevice(0) == acl.aclrtMalloc(ctypes.byref(memory), size, 0) == 0
there = (ctypes.c_char * size).from_address(memory.value)  # the fake's can be read
store = MooncakeDistributedStore()
code = store.setup("127.0.0.1", "P2PHANDSHAKE", (64 << 20) if role == "give" else 0, 0, "ascend", "", masters)
if code != 0:
    sys.exit(f"setup: {code}")
assert store.register_buffer(memory.value, size) == 0
if role == "give":
    ctypes.memmove(memory.value, random.Random(1).randbytes(size), size)
    config = ReplicateConfig()
    config.preferred_segment = store.get_hostname()
    result = store.put_from(key, memory.value, size, config)
else:
    result = store.get_into(key, memory.value, size)
print(result, zlib.crc32(there), store._pool.client.stats()["ascend_bytes"], flush=True)
sys.stdin.read()
store.close()
"""

# A store of an engine, with memory of its own in the pool, where its values go.
ENGINE = (
    cann_stand_in.ROUND_TRIPS
    + """
from mooncake.store import ReplicateConfig
masters, prefix = sys.argv[1:]
store, config = MooncakeDistributedStore(), ReplicateConfig()
code = store.setup("127.0.0.1", "P2PHANDSHAKE", 64 << 20, 16 << 20, "ascend", "", masters)
if code != 0:
    sys.exit(f"setup: {code}")
register(store)
config.preferred_segment = store.get_hostname()
round_trips("engine")
print(store._pool.client.stats()["ascend_bytes"] / size, flush=True)
store.close()
"""
)

# The calls of vllm-ascend's connector with layer-wise sessions, in its order: an object a block, which holds all layers. Of three
# blocks one is there already, and one is given up in the middle. Two requests read, by one session a key.
LAYERS = """
import ctypes, os, random, sys
from mooncake.store import MooncakeDistributedStore, ReplicateConfig
masters, prefix = sys.argv[1:]
acl = ctypes.CDLL(os.environ["KVPOOL_ASCEND_LIBRARY_DIR"] + "/libascendcl.so", ctypes.RTLD_GLOBAL)
acl.aclrtMalloc.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
acl.aclrtMemcpy.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
store, config = MooncakeDistributedStore(), ReplicateConfig()
calls = ("put_session_start", "put_from_multi_buffer_ranges", "put_session_end", "put_session_revoke",
         "get_session_start", "get_into_multi_buffer_ranges", "get_session_end")
assert all(callable(getattr(store, "batch_" + call, None)) for call in calls), "its check at the start"

layers, half, blocks = 4, 20_000, 3
layer, size = 2 * half, layers * 2 * half
cache = layers * blocks * layer  # of each layer the keys of all blocks, then their values
values = random.Random(1).randbytes(cache)
memory = ctypes.c_void_p()
assert acl.aclInit(None) == acl.aclrtSetDevice(0) == acl.aclrtMalloc(ctypes.byref(memory), cache, 0) == 0
def fill(data):
    assert acl.aclrtMemcpy(memory, cache, data, cache, 1) == 0
def read():
    copy = ctypes.create_string_buffer(cache)
    assert acl.aclrtMemcpy(copy, cache, memory, cache, 2) == 0
    return copy.raw
def place(block, at):
    first = at * blocks * layer + block * half
    return [first, first + blocks * half]
def rows(of, at):
    where = [[memory.value + start for start in place(block, at)] for block in of]
    return [keys[block] for block in of], where, [[half, half]] * len(of), [[at * layer, at * layer + half]] * len(of)
def expected(of):
    data = bytearray(cache)
    for block in of:
        for at in range(layers):
            for start in place(block, at):
                data[start : start + half] = values[start : start + half]
    return bytes(data)

if store.setup("127.0.0.1", "P2PHANDSHAKE", 64 << 20, 16 << 20, "ascend", "", masters) != 0:
    sys.exit("setup")
assert store.register_buffer(memory.value, cache) == 0
config.preferred_segment = store.get_hostname()
keys = [f"{prefix}model@{block}@0" for block in range(blocks)]
fill(values)
assert store.batch_put_session_start(keys[:1], [size], config) == [0]
for at in range(layers):
    assert store.batch_put_from_multi_buffer_ranges(*rows([0], at)) == [layer]
assert store.batch_put_session_end(keys[:1]) == [0]

assert store.batch_put_session_start(keys, [size] * 3, config) == [-705, 0, 0]
for at in range(layers):
    saved = [1, 2] if at < 2 else [1]
    assert store.batch_put_from_multi_buffer_ranges(*rows(saved, at)) == [layer] * len(saved)
assert store.batch_put_session_revoke(keys[2:]) == [0]
assert store.batch_put_session_end(keys[1:2]) == [0]
assert store.batch_is_exist(keys) == [1, 1, 0], "what was there is not revoked, and what was is gone"

assert store.batch_get_session_start(keys) == [0, 0, -704]
for request in range(2):
    fill(bytes(cache))
    for at in range(layers):
        assert store.batch_get_into_multi_buffer_ranges(*rows([0, 1], at)) == [layer] * 2
    assert read() == expected([0, 1])
assert store.batch_get_session_end(keys[:2]) == 0
assert store.batch_get_into_multi_buffer_ranges(*rows([0], 0)) == [-600]
assert store.batch_put_session_start(keys[2:], [size], config) == [0], "revoked, so that it can be stored later"
assert store.batch_put_session_revoke(keys[2:]) == [0]
print(store._pool.client.stats()["ascend_bytes"], flush=True)
store.close()
"""


@pytest.fixture
def cann(tmp_path: Path) -> dict[str, str]:
    return cann_stand_in.variables(tmp_path / "ledger")


@pytest.fixture
def run(pool: LocalPool, prefix: str) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Programs that live until the test ends."""
    started: list[subprocess.Popen[str]] = []

    def begin(role: str, variables: dict[str, str]) -> subprocess.Popen[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, role, pool.masters, prefix, str(SIZE)],
            env={**kept, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        process.communicate()


def answer(process: subprocess.Popen[str]) -> list[int]:
    """What the call returned, the checksum of its memory, the bytes that CANN moved."""
    line = process.stdout.readline()
    assert line, process.communicate()[1]
    return [int(word) for word in line.split()]


def test_memory_of_an_npu_goes_to_another_process_by_cann(
    run: Callable[..., subprocess.Popen[str]], cann: dict[str, str]
) -> None:
    result, put, moved = answer(run("give", cann))
    assert (result, moved) == (0, SIZE)
    result, got, moved = answer(run("take", cann))
    assert (result, got, moved) == (SIZE, put, SIZE)
    ledger = Path(cann["FAKE_ASCEND_LEDGER"]).read_text()
    assert len(re.findall(r"^\d+ \d+ aclrtMemcpyBatchAsync 0\b", ledger, re.MULTILINE)) == 2, "to the host, and from it"


def test_an_engine_moves_whole_values_by_cann_and_sessions_with_parts_on_the_connection(
    pool: LocalPool, prefix: str, cann: dict[str, str]
) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
    ran = subprocess.run(
        [sys.executable, "-c", ENGINE, pool.masters, prefix],
        env={**kept, **cann, "FAKE_ASCEND_HIDDEN_MEMORY": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.returncode) == ("5.0\n", 0), ran.stderr  # two puts, three gets


def test_layer_wise_sessions_of_vllm_ascend_have_npu_memory_and_go_on_the_connection(
    pool: LocalPool, prefix: str, cann: dict[str, str]
) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
    ran = subprocess.run(
        [sys.executable, "-c", LAYERS, pool.masters, prefix],
        env={**kept, **cann, "FAKE_ASCEND_HIDDEN_MEMORY": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.stdout, ran.returncode) == ("0\n", 0), ran.stderr


def test_where_cann_does_not_reach_a_client_it_goes_by_tcp_if_that_is_allowed(
    run: Callable[..., subprocess.Popen[str]], cann: dict[str, str]
) -> None:
    both = {**cann, "KVPOOL_PROTOCOLS": "ascend,tcp"}
    result, put, moved = answer(run("give", {**both, "FAKE_ASCEND_RULES": "fail TransferSync * 503900"}))
    assert (result, moved) == (0, 0)
    assert answer(run("take", both)) == [SIZE, put, 0]


def test_without_cann_setup_says_why(run: Callable[..., subprocess.Popen[str]], cann: dict[str, str]) -> None:
    process = run("take", {**cann, "FAKE_ASCEND_RULES": "fail Initialize * 103900"})
    _, said = process.communicate()
    assert process.returncode == 1
    assert "ascend cannot be used here, and tcp is not among the protocols" in said
    assert "add it if it may be used instead" in said
    assert "KVPOOL_PROTOCOL_OVERRIDE=tcp" in said
