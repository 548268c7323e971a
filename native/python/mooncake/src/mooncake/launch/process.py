# SPDX-License-Identifier: Apache-2.0
"""A `kvpool` process below a launcher: it ends with the launcher, and the launcher with it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence

# Seconds that `kvpool` has to stop after a signal: what it holds is handed over or written down then.
STOP_SECONDS = 30

# Exit code of a wrong command line.
USAGE = 2


class NoCommand(Exception):
    """There is no `kvpool` to run."""


def command(environment: Mapping[str, str]) -> str:
    """The `kvpool` command: what KVPOOL_COMMAND names, or the first on PATH."""
    named = environment.get("KVPOOL_COMMAND", "")
    found = named if named and os.access(named, os.X_OK) else shutil.which("kvpool", path=environment.get("PATH"))
    if found is None:
        raise NoCommand(
            "the command `kvpool` is not on PATH: use an image that has it (kvpool-mooncake), or put the folder bin of "
            "a kvpool distribution on PATH; it needs Java 25"
        )
    return found


def start(arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Starts `kvpool` with standard input open, whose end stops it however this process ends."""
    # Variables of kvpool's own prefix are settings to the command; those of the client are none of these.
    passed = {name: value for name, value in environment.items() if not name.startswith("KVPOOL_")}
    return subprocess.Popen([command(environment), *arguments], stdin=subprocess.PIPE, env=passed)


def stop(started: subprocess.Popen[bytes], seconds: float = STOP_SECONDS) -> None:
    """Stops the process, which is killed when it takes longer."""
    started.terminate()
    try:
        started.wait(seconds)
    except subprocess.TimeoutExpired:
        started.kill()
        started.wait()


def forward_signals(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM and SIGINT stop the process first, and this one when that is done."""

    def stop(_number: int, _frame: object) -> None:
        process.terminate()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def refuse(program: str, problems: Iterable[str]) -> int:
    """Says what is wrong with a command line; the exit code for that."""
    for problem in problems:
        say(program, problem)
    say(program, "--help lists the flags")
    return USAGE


def say(program: str, text: str) -> None:
    print(f"{program}: {text}", file=sys.stderr, flush=True)
