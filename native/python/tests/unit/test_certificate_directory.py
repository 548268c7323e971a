# SPDX-License-Identifier: Apache-2.0
"""Directories of certificates of processes that start together, and of those that were killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kvpool import certificate_directory
from kvpool.certificate_directory import CertificateDirectory

PROCESSES = 8
ROUNDS = 250

# Each makes directories and looks whether they are still there, as engines do that a pod starts together.
STARTS_OFTEN = f"""
import sys
from kvpool import certificate_directory
from kvpool.certificate_directory import CertificateDirectory

certificate_directory._MEMORY = sys.argv[1]
sys.stdin.readline()
lost = 0
for _ in range({ROUNDS}):
    directory = CertificateDirectory()
    lost += not (directory.path / "lock").exists()
    directory.remove()
print(lost)
"""

WAITS = """
import sys, time
from kvpool import certificate_directory
from kvpool.certificate_directory import CertificateDirectory

certificate_directory._MEMORY = sys.argv[1]
print(CertificateDirectory().path, flush=True)
time.sleep(60)
"""


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(certificate_directory, "_MEMORY", str(tmp_path))
    return tmp_path


def started(script: str, base: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(base)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_processes_that_start_together_keep_their_directories(base: Path) -> None:
    processes = [started(STARTS_OFTEN, base) for _ in range(PROCESSES)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    lost = [int(process.communicate(timeout=300)[0]) for process in processes]
    assert lost == [0] * PROCESSES
    assert [process.returncode for process in processes] == [0] * PROCESSES
    assert list(base.iterdir()) == []


def test_one_that_a_killed_process_left_is_removed_and_that_of_a_living_one_stays(base: Path) -> None:
    processes = [started(WAITS, base) for _ in range(2)]
    try:
        killed, living = (Path(process.stdout.readline().strip()) for process in processes if process.stdout)
        processes[0].send_signal(signal.SIGKILL)
        processes[0].wait(timeout=60)
        mine = CertificateDirectory()
        assert sorted(base.iterdir()) == sorted([living, mine.path])
        assert not killed.exists()
        mine.remove()
    finally:
        for process in processes:
            process.kill()
            process.communicate(timeout=60)


def test_one_that_was_never_locked_is_removed_when_it_is_old(base: Path) -> None:
    old, new = (base / f"{certificate_directory._PREFIX_BEFORE_LOCK}{name}" for name in ("old", "new"))
    old.mkdir()
    new.mkdir()
    hour_ago = time.time() - 3600
    os.utime(old, (hour_ago, hour_ago))
    CertificateDirectory().remove()
    assert list(base.iterdir()) == [new]


def test_only_its_user_may_read_it(base: Path) -> None:
    directory = CertificateDirectory()
    assert directory.path.name.startswith(certificate_directory._PREFIX)
    assert directory.path.stat().st_mode & 0o777 == 0o700
    directory.remove()
