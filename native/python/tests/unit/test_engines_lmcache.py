# SPDX-License-Identifier: Apache-2.0
"""The connector of LMCache: each batch has one end, whatever happens."""

import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from conftest import Fake
from waiting import eventually

from kvpool_engines import lmcache
from kvpool_engines.lmcache import Completion, KvpoolConnector


@pytest.fixture
def connector(fake: Fake) -> Iterator[KvpoolConnector]:
    opened = KvpoolConnector(masters="m:1")
    eventually(lambda: opened.submit_batch_exists(["k"]) and ended(opened)[0][1], "it has its pool")
    yield opened
    opened.close()


def ended(connector: KvpoolConnector) -> list[Completion]:
    """At least one batch's end."""
    found: list[Completion] = []
    eventually(lambda: found.extend(connector.drain_completions()) or found, "a batch ends")
    return found


def test_batches_that_wait_end_when_it_is_closed(connector: KvpoolConnector, fake: Fake) -> None:
    fake.close_gate()
    numbers = [connector.submit_batch_exists([f"k{at}", "l"]) for at in range(lmcache._LOOKUP_THREADS + 3)]
    eventually(lambda: fake.state.waiting == lmcache._LOOKUP_THREADS, "some are begun")
    closing = threading.Thread(target=connector.close)
    closing.start()
    # Those that wait are dropped at once, before those that run are waited for.
    eventually(lambda: connector._lookups._threads._shutdown, "it is closed")
    fake.open_gate()
    closing.join()
    completions = connector.drain_completions()
    assert sorted(number for number, *_ in completions) == numbers
    dropped = [why for _, succeeded, why, done in completions if not succeeded and done == [False, False]]
    assert dropped == ["the connector was closed"] * 3


def test_a_batch_that_is_refused_while_it_is_closed_has_one_end(
    connector: KvpoolConnector, monkeypatch: pytest.MonkeyPatch
) -> None:
    closing = [connector.close]

    class Open(dict[int, int]):
        """Between a look and what follows from it the connector is closed."""

        def get(self, number: int, default: Any = None) -> Any:
            found = super().get(number, default)
            if closing:
                closing.pop()()
            return found

    monkeypatch.setattr(connector, "_open", Open())
    monkeypatch.setattr(connector._lookups, "submit", lambda work: False)
    connector.drain_completions()
    number = connector.submit_batch_exists(["k"])
    assert [completion[0] for completion in connector.drain_completions()] == [number]


def test_a_batch_after_its_end_fails_and_writes_to_no_other_descriptor(
    connector: KvpoolConnector, capfd: pytest.CaptureFixture[str]
) -> None:
    connector.close()
    reading, writing = os.pipe()
    number = connector.submit_batch_exists(["k"])
    [(ended_number, succeeded, _, done)] = connector.drain_completions()
    assert (ended_number, succeeded, done) == (number, False, [False])
    os.close(writing)
    assert os.read(reading, 8) == b"", "the descriptor had been given out again"
    os.close(reading)
