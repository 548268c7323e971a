# SPDX-License-Identifier: Apache-2.0
"""What each process of the load asked and was answered, in a file of its own.

A call is written down before it is made and its answer after, each with one write(2): what a killed process leaves is
whole, and whatever a call did, its beginning is in the file. Times are CLOCK_MONOTONIC, the same for all processes.
"""

import json
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from kvchaos.windows import FOREVER

OK, MISSING, UNKNOWN = "ok", "missing", "unknown"
"""Outcomes for one key. UNKNOWN may or may not have happened."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One key of one call.

    kind: put, upsert, get, exists, remove or remove_all (key "": all keys).
    identity: of the value put or read (see values.identity). size: of the value put or found, -1 when not known.
    reuse: of a get: it may have relied on what the process was told before, while the lease on that held.
    retried: the library may have sent the request more than once, so the outcome tells of the last time only.
    """

    process: str
    call: int
    kind: str
    key: str
    start: int
    end: int = FOREVER
    outcome: str = UNKNOWN
    identity: str | None = None
    size: int = -1
    force: bool = False
    retried: bool = True
    reuse: bool = False

    def __str__(self) -> str:
        end = f"{self.end / 1e9:.6f}" if self.end < FOREVER else "never returned"
        what = f" {self.identity}" if self.identity else ""
        what += f" ({self.size} bytes)" if self.size >= 0 else ""
        how = (" force" if self.force else "") + (" reuse" if self.reuse else "")
        return f"{self.process}#{self.call} {self.kind}{how} {self.key}{what} [{self.start / 1e9:.6f}, {end}] {self.outcome}"


class Recorder:
    """Writes one process's file."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self._calls = 0

    def begin(
        self,
        kind: str,
        keys: Sequence[str],
        values: Sequence[tuple[str, int]] = (),
        force: bool = False,
        reuse: bool = False,
    ) -> int:
        """Before the call. `values`: identity and size of each value put. Returns the call's number."""
        self._calls += 1
        line: dict[str, object] = {"c": self._calls, "k": kind, "keys": list(keys), "f": force, "u": reuse}
        if values:
            line["v"] = list(values)
        self._write(line | {"t": time.monotonic_ns()})
        return self._calls

    def end(self, call: int, answers: Sequence[tuple[str, str | None, int]], retried: bool) -> None:
        """After it. `answers`: outcome, identity read and size of each key."""
        self._write({"a": call, "t": time.monotonic_ns(), "o": list(answers), "r": retried})

    def _write(self, line: dict[str, object]) -> None:
        os.write(self._file, json.dumps(line, separators=(",", ":")).encode() + b"\n")


class Reader:
    """Reads a growing file. Each operation comes out once: when it was answered, or from rest() when it was not."""

    def __init__(self, path: Path) -> None:
        self.process = path.stem
        self._path = path
        self._offset = 0
        self._open: dict[int, dict] = {}

    def answered(self) -> Iterator[Operation]:
        """Operations answered since the last call."""
        for line in self._new_lines():
            if "c" in line:
                self._open[line["c"]] = line
            else:
                yield from self._operations(self._open.pop(line["a"]), line)

    def rest(self) -> Iterator[Operation]:
        """Operations that are not answered as yet."""
        for line in self._open.values():
            yield from self._operations(line, None)

    def _new_lines(self) -> Iterator[dict]:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                yield json.loads(line)

    def _operations(self, begun: dict, answer: dict | None) -> Iterator[Operation]:
        count = len(begun["keys"])
        values = begun.get("v") or [(None, -1)] * count
        answers = answer["o"] if answer else [(UNKNOWN, None, -1)] * count
        for key, (put, put_size), (outcome, read, read_size) in zip(begun["keys"], values, answers, strict=True):
            yield Operation(
                self.process,
                begun["c"],
                begun["k"],
                key,
                begun["t"],
                answer["t"] if answer else FOREVER,
                outcome,
                put or read,
                max(put_size, read_size),
                begun["f"],
                answer["r"] if answer else True,
                begun["u"],
            )
