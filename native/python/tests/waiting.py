# SPDX-License-Identifier: Apache-2.0
"""Waiting for what other threads and processes do, without a guess at how long they take."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path


def eventually(condition: Callable[[], object], what: str, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"did not happen within {seconds} s: {what}"
        time.sleep(0.005)


def freeze(process: subprocess.Popen) -> None:
    """Returns when no thread of it runs any more: the signal alone lets one that is answering finish."""

    def stands_still() -> bool:
        threads = Path(f"/proc/{process.pid}/task").glob("*/stat")
        return all(thread.read_text().rpartition(")")[2].split()[0] == "T" for thread in threads)

    process.send_signal(signal.SIGSTOP)
    eventually(stands_still, "a stopped process stands still")
