# SPDX-License-Identifier: Apache-2.0
"""`transfer_engine_bench` in two processes, as scripts of the reference start them."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAM = Path(sys.executable).parent / "transfer_engine_bench"
SIZE = 4 << 20


@pytest.fixture
def target() -> Iterator[str]:
    command = [PROGRAM, "--mode=target", f"--buffer_size={SIZE}", "--metadata_server=P2PHANDSHAKE"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().strip().rpartition("=")[2]
    process.terminate()
    assert process.wait(10) == 0
    process.stdout.close()


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [PROGRAM, "-threads", "2", "-batch_size=4", "-duration=1", f"-buffer_size={SIZE}", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_transfers_are_counted_and_what_fails_is_said(target: str) -> None:
    counting = [start(f"--segment_id={target}", f"--operation={one}", "--report_unit=MiB") for one in ("read", "write")]
    beyond = start(f"--segment_id={target}", f"--buffer_size={2 * SIZE}", "--batch_size=64")
    nowhere = start("--segment_id=127.0.0.1:1")
    for process in counting:
        said, why = process.communicate(timeout=60)
        assert process.returncode == 0, why
        line = re.fullmatch(
            r"Test completed: duration ([0-9.]+), batch count (\d+), throughput ([0-9.]+) MiB/s\n", said
        )
        seconds, batches, speed = (float(part) for part in line.groups())
        assert seconds >= 1 and batches >= 2
        assert speed == pytest.approx(batches * 4 / 16 / seconds, rel=0.02, abs=0.01)
    assert re.search(r"a transfer with \S+ failed after", beyond.communicate(timeout=60)[1])
    assert "cannot be reached" in nowhere.communicate(timeout=60)[1]
    assert (beyond.returncode, nowhere.returncode) == (1, 1)
