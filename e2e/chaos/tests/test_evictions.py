# SPDX-License-Identifier: Apache-2.0
"""Eviction logs as masters write them: growing, full, and cut off by a death."""

import json
from pathlib import Path

from kvchaos.evictions import Evicted, Eviction, EvictionReader


def line(key: str, time: int, **more: object) -> bytes:
    return json.dumps({"time": "2026-01-02T03:04:05Z", "monotonicNs": time, "key": key, "id": "1.2"} | more).encode()


def append(path: Path, *lines: bytes) -> None:
    with path.open("ab") as file:
        file.write(b"".join(it + b"\n" for it in lines))


def heard(reader: EvictionReader) -> list[tuple[str, int]]:
    return [(eviction.key, eviction.start) for eviction in reader.new()]


def test_each_eviction_comes_out_once(tmp_path: Path) -> None:
    path = tmp_path / "master-0.evictions"
    reader = EvictionReader(path)
    assert heard(reader) == [], "there is no file yet"
    append(path, line("a", 1), line("b", 2))
    assert heard(reader) == [("a", 1), ("b", 2)]
    assert heard(reader) == []
    append(path, line("a", 3))
    (eviction,) = reader.new()
    assert eviction == Eviction("master-0", "a", "1.2", 3)
    assert reader.count == 3
    assert reader.problems == []


def test_a_line_comes_out_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "log"
    reader = EvictionReader(path)
    whole = line("a", 1)
    path.write_bytes(whole[:10])
    assert heard(reader) == []
    with path.open("ab") as file:
        file.write(whole[10:] + b"\n")
    assert heard(reader) == [("a", 1)]


def test_a_line_that_was_cut_off_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "log"
    reader = EvictionReader(path)
    append(path, line("a", 1), line("b", 2)[:20], line("c", 3))
    assert heard(reader) == [("a", 1), ("c", 3)]
    assert reader.problems == []


def test_a_full_log_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "log"
    reader = EvictionReader(path)
    append(path, line("a", 1))
    assert heard(reader) == [("a", 1)]
    append(path, line("b", 2))
    path.rename(tmp_path / "log.1")
    append(path, line("c", 3))
    assert heard(reader) == [("b", 2), ("c", 3)]
    assert reader.problems == []


def test_what_was_thrown_away_unread_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log"
    reader = EvictionReader(path)
    append(path, line("a", 1))
    assert heard(reader) == [("a", 1)]
    path.rename(tmp_path / "log.1")
    append(path, line("b", 2))
    path.rename(tmp_path / "log.1")
    append(path, line("c", 3))
    assert heard(reader) == [("c", 3)]
    (problem,) = reader.problems
    assert "begun twice" in problem


def test_evictions_that_could_not_be_written_are_told(tmp_path: Path) -> None:
    path = tmp_path / "log"
    reader = EvictionReader(path)
    append(path, json.dumps({"monotonicNs": 1, "missing": 7}).encode(), line("a", 2))
    assert heard(reader) == [("a", 2)]
    assert [problem for problem in reader.problems if "lacks 7 evictions" in problem] == reader.problems
    assert len(reader.problems) == 1


def test_evictions_by_key_and_time() -> None:
    evicted = Evicted()
    for key, time in (("a", 9), ("a", 4), ("b", 6)):
        evicted.add(Eviction("m", key, "1.2", time))
    assert evicted.between("a", 4, 4)
    assert evicted.between("a", 5, 9)
    assert not evicted.between("a", 5, 8)
    assert not evicted.between("a", 10, 99)
    assert not evicted.between("b", 0, 5)
    assert not evicted.between("c", 0, 99)
