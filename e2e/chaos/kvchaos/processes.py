# SPDX-License-Identifier: Apache-2.0
"""Processes that are started again when they die, and an account of how each one died."""

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

_POLL_SECONDS = 0.02
_RESTART_SECONDS = 0.1
_PR_SET_PDEATHSIG = 1
STOP_SECONDS_MAX = 25
"""What `kvpool` promises: SIGTERM ends it within this."""

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass
class Spec:
    name: str
    command: list[str]
    log: Path
    environment: dict[str, str]


@dataclass
class _Child:
    spec: Spec
    process: subprocess.Popen | None = None
    # Signals of ours that end it; without one, a death is a defect.
    ending: int | None = None
    ending_since: float = 0.0
    held: bool = False
    stopped: bool = False
    start_after: float = 0.0
    starts: int = 0


@dataclass
class Deaths:
    """Ends that nobody asked for, a sentence each."""

    unexpected: list[str] = field(default_factory=list)


def die_with_parent() -> None:
    """For preexec_fn: the child gets SIGKILL when the thread that started it ends, whatever ends it."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


class Supervisor:
    """Starts processes, and starts again what ended. One thread starts them all, so that they die with it."""

    def __init__(self) -> None:
        self.deaths = Deaths()
        self._children: dict[str, _Child] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="supervisor", daemon=True)
        self._thread.start()

    def add(self, spec: Spec) -> None:
        with self._lock:
            self._children[spec.name] = _Child(spec)

    def pid(self, name: str) -> int | None:
        """None while it is between two lives."""
        with self._lock:
            process = self._children[name].process
            return process.pid if process is not None and process.poll() is None else None

    def starts(self, name: str) -> int:
        with self._lock:
            return self._children[name].starts

    def change_environment(self, name: str, changes: dict[str, str]) -> None:
        """Of its next lives."""
        with self._lock:
            self._children[name].spec.environment.update(changes)

    def kill(self, name: str) -> None:
        self._end(name, signal.SIGKILL)

    def terminate(self, name: str) -> None:
        """It must end with 0, and in time."""
        self._end(name, signal.SIGTERM)

    def pause(self, name: str) -> None:
        self._pause(name, True)

    def resume(self, name: str) -> None:
        self._pause(name, False)

    def hold(self, name: str) -> None:
        """It is not started again until release()."""
        with self._lock:
            self._children[name].held = True

    def release(self, name: str) -> None:
        with self._lock:
            self._children[name].held = False

    def await_end(self, name: str, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while self.pid(name) is not None:
            if time.monotonic() > end:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _end(self, name: str, how: int) -> None:
        with self._lock:
            child = self._children[name]
            if child.process is None or child.process.poll() is not None:
                return
            child.ending, child.ending_since = how, time.monotonic()
            child.process.send_signal(how)

    def _pause(self, name: str, stopped: bool) -> None:
        with self._lock:
            child = self._children[name]
            child.stopped = stopped
            if child.process is not None and child.process.poll() is None:
                child.process.send_signal(signal.SIGSTOP if stopped else signal.SIGCONT)

    def _run(self) -> None:
        while not self._ended.wait(_POLL_SECONDS):
            with self._lock:
                for child in self._children.values():
                    self._look_after(child)
        for child in self._children.values():
            if child.process is not None:
                with contextlib.suppress(ProcessLookupError):
                    child.process.kill()
                child.process.wait()

    def _look_after(self, child: _Child) -> None:
        now = time.monotonic()
        if child.process is not None:
            code = child.process.poll()
            if code is None:
                self._end_overdue(child, now)
                return
            self._account(child, code, now)
            child.process, child.ending, child.stopped = None, None, False
            child.start_after = now + _RESTART_SECONDS
        if not child.held and now >= child.start_after:
            self._start(child)

    def _end_overdue(self, child: _Child, now: float) -> None:
        overdue = child.ending == signal.SIGTERM and now - child.ending_since > STOP_SECONDS_MAX
        if overdue and not child.stopped:
            self.deaths.unexpected.append(f"{child.spec.name} did not end within {STOP_SECONDS_MAX} s of SIGTERM")
            child.ending = signal.SIGKILL
            child.process.kill()

    def _account(self, child: _Child, code: int, now: float) -> None:
        if child.ending == signal.SIGKILL or (child.ending == signal.SIGTERM and code == 0):
            return
        asked = " after SIGTERM" if child.ending == signal.SIGTERM else ", and nobody asked it to"
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        self.deaths.unexpected.append(f"{child.spec.name} {how}{asked}; its log is {child.spec.log}")

    def _start(self, child: _Child) -> None:
        spec = child.spec
        with spec.log.open("ab") as log:
            log.write(f"---- start {child.starts + 1} at {time.monotonic():.3f}\n".encode())
            log.flush()
            child.process = subprocess.Popen(
                spec.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=spec.environment,
                start_new_session=True,  # Ctrl-C is for us; we end the others
                preexec_fn=die_with_parent,
            )
        child.starts += 1


def plain_environment() -> dict[str, str]:
    """Ours, without what `kvpool` would take for its settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith("KVPOOL_")}
