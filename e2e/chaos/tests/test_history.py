# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from kvchaos.history import MISSING, OK, Reader, Recorder
from kvchaos.windows import FOREVER


def test_what_was_recorded_is_read(tmp_path: Path) -> None:
    path = tmp_path / "c1.history"
    recorder, reader = Recorder(path), Reader(path)
    put = recorder.begin("put", ["a", "b"], [("1.1", 10), ("1.2", 20)])
    assert list(reader.answered()) == []
    assert [(it.key, it.end) for it in reader.rest()] == [("a", FOREVER), ("b", FOREVER)]
    recorder.end(put, [(OK, None, -1), ("busy", None, -1)], retried=False)
    get = recorder.begin("get", ["a"], reuse=True)
    recorder.end(get, [(OK, "1.1", 10)], retried=True)
    a, b, read = reader.answered()
    assert (a.kind, a.key, a.identity, a.size, a.outcome, a.retried) == ("put", "a", "1.1", 10, OK, False)
    assert (b.key, b.identity, b.outcome) == ("b", "1.2", "busy")
    assert (read.kind, read.identity, read.size, read.retried, read.reuse) == ("get", "1.1", 10, True, True)
    assert not a.reuse
    assert a.start <= a.end <= read.start <= read.end
    assert list(reader.rest()) == list(reader.answered()) == []


def test_a_process_that_was_killed_leaves_its_call_open(tmp_path: Path) -> None:
    path = tmp_path / "c1.history"
    recorder, reader = Recorder(path), Reader(path)
    recorder.end(recorder.begin("remove", ["a"], force=True), [(MISSING, None, -1)], retried=False)
    recorder.begin("remove_all", [""])
    with path.open("ab") as file:
        file.write(b'{"a": 2, "t"')  # no newline: not written whole as yet
    (done,) = reader.answered()
    assert (done.force, done.outcome) == (True, MISSING)
    (open_,) = reader.rest()
    assert (open_.kind, open_.key, open_.end) == ("remove_all", "", FOREVER)


def test_a_file_that_is_not_there_yet_is_empty(tmp_path: Path) -> None:
    reader = Reader(tmp_path / "later.history")
    assert list(reader.answered()) == list(reader.rest()) == []
