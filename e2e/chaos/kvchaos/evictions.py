# SPDX-License-Identifier: Apache-2.0
"""What masters say they evicted, from their eviction logs (`kvpool master --eviction-log`).

A master writes an eviction down before anybody can notice it, so whoever has heard of a miss finds its eviction in the file.
Times are CLOCK_MONOTONIC, as in histories; setting the wall clock off does not touch them.
"""

import json
import os
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Eviction:
    master: str
    key: str
    id: str
    start: int

    def __str__(self) -> str:
        return f"{self.master} evicted {self.key} {self.id} [{self.start / 1e9:.6f}]"


class Evicted:
    """When objects of each key were evicted."""

    def __init__(self, times: dict[str, list[int]] | None = None) -> None:
        self._times: dict[str, list[int]] = defaultdict(list)
        for key, of_key in (times or {}).items():
            self._times[key] = sorted(of_key)

    def add(self, eviction: Eviction) -> None:
        insort(self._times[eviction.key], eviction.start)

    def between(self, key: str, start: int, end: int) -> bool:
        """Whether one was, at any time in [start, end]."""
        times = self._times.get(key, [])
        first = bisect_left(times, start)
        return first < len(times) and times[first] <= end


class EvictionReader:
    """Reads the growing log of one master; each eviction comes out once."""

    def __init__(self, path: Path) -> None:
        self.problems: list[str] = []
        self.count = 0
        self._path = path
        self._file: FileIO | None = None
        self._rest = b""

    def new(self) -> Iterator[Eviction]:
        """Evictions written since the last call."""
        while self._open():
            yield from self._lines()
            if not self._is_full():
                return
            yield from self._lines()  # it may have grown until the next one was begun
            self._file.close()
            self._file, self._rest = None, b""

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _open(self) -> bool:
        if self._file is None and self._path.exists():
            self._file = self._path.open("rb", buffering=0)
        return self._file is not None

    def _is_full(self) -> bool:
        """Whether the master has begun another one."""
        ours = _inode(self._file.fileno())
        if not self._path.exists() or _inode(self._path) == ours:
            return False
        previous = self._path.with_name(self._path.name + ".1")
        if not previous.exists() or _inode(previous) != ours:
            self.problems.append(f"{self._path} was begun twice since it was read: evictions are not known")
        return True

    def _lines(self) -> Iterator[Eviction]:
        *lines, self._rest = (self._rest + self._file.readall()).split(b"\n")
        for text in lines:
            line = _parsed(text)
            if "missing" in line:
                self.problems.append(f"{self._path} lacks {line['missing']} evictions that could not be written")
            elif "key" in line:
                self.count += 1
                yield Eviction(self._path.stem, line["key"], line["id"], line["monotonicNs"])


def _parsed(text: bytes) -> dict:
    """Nothing of a line that was cut off: its writer died before it freed anything."""
    try:
        return json.loads(text)
    except ValueError:
        return {}


def _inode(file: int | Path) -> tuple[int, int]:
    found = os.stat(file)
    return found.st_dev, found.st_ino
