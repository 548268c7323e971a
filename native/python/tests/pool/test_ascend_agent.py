# SPDX-License-Identifier: Apache-2.0
"""setup_dummy() of a process with an NPU: its memory goes to the agent by ACL alone, through the memory that both share. CANN is
the fake of native/test/ascend/fake, with device memory that the processor cannot read."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import cann_stand_in
import pytest
from conftest import Agent
from local_pool import LocalPool

# Each step compares what is in the NPU's memory; after "again" another agent is there.
PROGRAM = """
import ctypes, os, random, sys
from mooncake.store import MooncakeDistributedStore
acl = ctypes.CDLL(os.environ["KVPOOL_ASCEND_LIBRARY_DIR"] + "/libascendcl.so", ctypes.RTLD_GLOBAL)
acl.aclrtMalloc.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
acl.aclrtMemcpy.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
size, third = 300_000, 100_000
value = random.Random(1).randbytes(size)

def npu():
    memory = ctypes.c_void_p()
    assert acl.aclrtMalloc(ctypes.byref(memory), size, 0) == 0
    return memory.value

def read(at):
    copy = ctypes.create_string_buffer(size)
    assert acl.aclrtMemcpy(copy, size, at, size, 2) == 0
    return copy.raw

def empty(at):
    assert acl.aclrtMemcpy(at, size, bytes(size), size, 1) == 0

assert acl.aclInit(None) == acl.aclrtSetDevice(0) == 0
here, there = npu(), npu()
assert acl.aclrtMemcpy(here, size, value, size, 1) == 0
store = MooncakeDistributedStore()
assert store.setup_dummy(0, 16 << 20, sys.argv[1]) == 0
assert store.register_buffer(here, size) == store.register_buffer(there, size) == 0
prefix = sys.argv[2]

def round_trips(name):
    one, many, whole = prefix + name, prefix + name + "/pieces", prefix + name + "/session"
    assert store.put_from(one, here, size) == 0
    assert store.get_into(one, there, size) == size and read(there) == value
    assert store.get(one) == value
    pieces = [here + third * i for i in (2, 0, 1)]
    assert store.batch_put_from_multi_buffers([many], [pieces], [[third] * 3]) == [0]
    empty(there)
    pieces = [there + third * i for i in (2, 0, 1)]
    assert store.batch_get_into_multi_buffers([many], [pieces], [[third] * 3]) == [size] and read(there) == value
    empty(there)
    assert store.get_into_ranges([there], [[one]], [[[0, 7]]], [[[5, 1000]]], [[[2, 900]]]) == [[[2, 900]]]
    assert read(there)[:907] == value[5:7] + bytes(5) + value[1000:1900]
    assert store.batch_put_session_start([whole], [size]) == [0]
    for i in (1, 2, 0):
        row = [whole], [[here + third * i]], [[third]], [[third * i]]
        assert store.batch_put_from_multi_buffer_ranges(*row) == [third]
    assert store.batch_put_session_end([whole]) == [0]
    empty(there)
    assert store.batch_get_session_start([whole]) == [0]
    row = [whole], [[there + 10, there + third]], [[third - 10, 2 * third]], [[10, third]]
    assert store.batch_get_into_multi_buffer_ranges(*row) == [size - 10]
    assert store.batch_get_session_end([whole]) == 0
    assert read(there) == bytes(10) + value[10:]

round_trips("first")
print("done", flush=True)
sys.stdin.readline()
round_trips("second")
assert store.unregister_buffer(here) == 0
assert store.put_from(prefix + "third", here, size) == store.get_into(prefix + "first", here, size) == -600
print("done", flush=True)
store.close()
"""


@pytest.fixture
def own(pool: LocalPool) -> Iterator[Agent]:
    """An agent that the test may end."""
    started = Agent(pool.masters)
    yield started
    started.close()


def environment(cann: dict[str, str]) -> dict[str, str]:
    """Of a program that waits as long as another agent takes to start."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
    return {**kept, **cann, "KVPOOL_RETRY_DEADLINE": "2m"}


def test_memory_of_an_npu_goes_through_an_agent_and_stays_registered(own: Agent, prefix: str, tmp_path: Path) -> None:
    cann = {**cann_stand_in.variables(tmp_path / "ledger"), "FAKE_ASCEND_HIDDEN_MEMORY": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, own.address, prefix],
        env=environment(cann),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "done\n", process.communicate()[1]
        own.kill()
        own.start()
        output, errors = process.communicate("again\n")
    assert output == "done\n", errors
    functions = {line.split()[2] for line in (tmp_path / "ledger").read_text().splitlines()}
    assert "aclrtMemcpyBatchAsync" in functions
    assert not functions & {"Initialize", "RegisterMem", "Connect"}, "no engine of CANN, no port, no channel"


def test_a_process_without_memory_of_npus_does_not_load_cann(agent: Agent, prefix: str, tmp_path: Path) -> None:
    program = (
        "import ctypes, sys; from mooncake.store import MooncakeDistributedStore as Store; s = Store();"
        "assert s.setup_dummy(0, 0, sys.argv[1]) == 0; b = ctypes.create_string_buffer(9); a = ctypes.addressof(b);"
        "assert s.register_buffer(a, 9) == s.put_from(sys.argv[2], a, 9) == 0; s.close()"
    )
    cann = cann_stand_in.variables(tmp_path / "ledger")
    ran = subprocess.run(
        [sys.executable, "-c", program, agent.address, prefix],
        env=environment(cann),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert not (tmp_path / "ledger").exists()
