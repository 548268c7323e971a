# SPDX-License-Identifier: Apache-2.0
"""The processes of the load, from the side of who commands them."""

import contextlib
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from kvchaos.history import Reader
from kvchaos.processes import plain_environment

_READY_SECONDS = 90.0
_PAUSE_SECONDS = 60.0
_END_SECONDS = 30.0


@dataclass
class Member:
    name: str
    role: str
    api: str
    process: subprocess.Popen
    reader: Reader
    errors: Path
    said: list[str] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)
    ended_by_us: bool = False

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def say(self, word: str) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{word}\n".encode())
            self.process.stdin.flush()

    def listen(self) -> None:
        for line in self.process.stdout:
            with self.news:
                self.said.append(line.decode().strip())
                self.news.notify_all()
        with self.news:
            self.news.notify_all()

    def await_word(self, word: str, seconds: float) -> bool:
        """Takes the word out of what was said; False when it was not said in time."""
        with self.news:
            heard = self.news.wait_for(lambda: word in self.said or not self.is_alive, seconds)
            if word not in self.said:
                return False
            self.said.remove(word)
            return heard


class Crew:
    """Starts, pauses, stops and kills clients. All are started by the thread that made this, and die with it."""

    def __init__(self, masters: str, directory: Path, pace: float) -> None:
        self._masters = masters
        self._directory = directory
        self._pace = pace
        self._writers = 0
        self.members: list[Member] = []
        self.readers: list[Reader] = []
        self.problems: list[str] = []
        directory.mkdir(parents=True, exist_ok=True)

    def next_writer(self) -> int:
        """Numbers of writers are used once, so that each value has one origin."""
        self._writers += 1
        return self._writers

    def path_of(self, name: str) -> Path:
        return self._directory / f"{name}.history"

    def join(self, role: str, api: str, seed: int, transient: bool = False) -> Member:
        writer = self.next_writer()
        name = f"{'transient' if transient else role}-{writer}-{api}"
        arguments = ["--masters", self._masters, "--log", str(self.path_of(name)), "--writer", str(writer)]
        arguments += ["--seed", str(seed), "--api", api, "--role", role, "--pace", str(self._pace)]
        errors = self._directory / f"{name}.stderr"
        process = subprocess.Popen(
            [sys.executable, "-m", "kvchaos.client", *arguments, *(["--transient"] if transient else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors.open("wb"),
            env=plain_environment(),
            start_new_session=True,
        )
        member = Member(name, role, api, process, Reader(self.path_of(name)), errors)
        threading.Thread(target=member.listen, daemon=True).start()
        self.members.append(member)
        self.readers.append(member.reader)
        return member

    def await_ready(self, member: Member) -> bool:
        if member.await_word("ready", _READY_SECONDS):
            return True
        self.problems.append(f"{member.name} did not get ready; it said {self._last_words(member)}")
        return False

    def living(self, role: str | None = None) -> list[Member]:
        return [member for member in self.members if member.is_alive and role in (None, member.role)]

    def pause(self) -> None:
        """Returns when no call is under way."""
        for member in self.living():
            member.say("pause")
        end = time.monotonic() + _PAUSE_SECONDS
        for member in list(self.members):
            if not member.await_word("paused", max(0.0, end - time.monotonic())) and not self._is_gone(member):
                self.problems.append(f"{member.name} has a call that does not end within {_PAUSE_SECONDS:.0f} s")

    def tell(self, word: str) -> None:
        for member in self.living():
            member.say(word)

    def freeze(self, member: Member) -> None:
        member.process.send_signal(signal.SIGSTOP)

    def thaw(self, member: Member) -> None:
        member.process.send_signal(signal.SIGCONT)

    def kill(self, member: Member) -> None:
        member.ended_by_us = True
        member.process.kill()
        member.process.wait()

    def dismiss(self, member: Member) -> None:
        """It may finish its call, close its client and, when it has one, its storage node."""
        member.process.stdin.close()
        try:
            member.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.problems.append(f"{member.name} did not end within {_END_SECONDS:.0f} s of being told to")
            self.kill(member)
        if not member.ended_by_us:
            self._is_gone(member)
        member.ended_by_us = True

    def close(self) -> None:
        for member in self.living():
            member.ended_by_us = True
            with contextlib.suppress(ProcessLookupError):
                member.process.send_signal(signal.SIGKILL)
            member.process.wait()

    def _is_gone(self, member: Member) -> bool:
        """Whether it ended; says so when it did by itself and not well."""
        if member.is_alive:
            return False
        if not member.ended_by_us and member.process.returncode != 0:
            member.ended_by_us = True
            self.problems.append(
                f"{member.name} ended with {member.process.returncode}; it said {self._last_words(member)}"
            )
        return True

    @staticmethod
    def _last_words(member: Member) -> str:
        return member.errors.read_text(errors="replace")[-600:].strip() or "nothing"
