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

# After "again" another agent is there.
PROGRAM = (
    cann_stand_in.ROUND_TRIPS
    + """
store = MooncakeDistributedStore()
assert store.setup_dummy(0, 16 << 20, sys.argv[1]) == 0
prefix, config = sys.argv[2], None
register(store)
round_trips("first")
print("done", flush=True)
sys.stdin.readline()
round_trips("second")
assert store.unregister_buffer(here) == 0
assert store.put_from(prefix + "third", here, size) == store.get_into(prefix + "first", here, size) == -600
print("done", flush=True)
store.close()
"""
)


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
