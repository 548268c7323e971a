# SPDX-License-Identifier: Apache-2.0
"""Lookups that an engine asks again until there is an answer: pure."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Key = TypeVar("Key")
# Others store and objects are evicted: an answer holds for less than an object's lease.
_FRESH_SECONDS = 2.0


@dataclass(slots=True)
class _State:
    asked: float
    found: bool | None = None
    requests: set[str] = field(default_factory=set)


class PendingLookups(Generic[Key]):
    """For each key that requests ask about: not known yet, there, or not there. What is not known after the limit is not there,
    and an answer that comes later changes nothing for these requests. A request that asks for the first time does not
    get an old answer: the key is looked up again, for all requests.

    Times are those of `clock`, in seconds. The engine asks in one thread at a time, answers come from any.
    """

    def __init__(self, limit: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._clock = limit, clock
        self._lock = threading.Lock()
        self._states: dict[Key, _State] = {}
        self._keys_of: dict[str, set[Key]] = {}
        self._new: list[Key] = []

    def ask(self, key: Key, request: str) -> bool | None:
        """Whether there is an object; None: ask again."""
        with self._lock:
            state = self._states.get(key)
            now = self._clock()
            if state is None:
                state = self._states[key] = _State(now)
                self._new.append(key)
            elif request not in state.requests and now - state.asked >= max(_FRESH_SECONDS, self._limit):
                state.asked, state.found = now, None
                self._new.append(key)
            state.requests.add(request)
            self._keys_of.setdefault(request, set()).add(key)
            if state.found is None and now - state.asked >= self._limit:
                state.found = False
            return state.found

    def take(self) -> list[Key]:
        """The keys that are not looked up yet."""
        with self._lock:
            new = [key for key in self._new if key in self._states]
            self._new = []
            return new

    def answer(self, keys: Sequence[Key], found: Sequence[bool]) -> None:
        with self._lock:
            for key, there in zip(keys, found, strict=True):
                state = self._states.get(key)
                if state and state.found is None:
                    state.found = there

    def missing(self, keys: Iterable[Key]) -> None:
        """What was there could not be loaded, so that requests which ask again do not try for ever."""
        with self._lock:
            for key in keys:
                if key in self._states:
                    self._states[key].found = False

    def forget(self, request: str) -> None:
        """The request asks nothing more. A key that no request asks about is looked up again the next time."""
        with self._lock:
            for key in self._keys_of.pop(request, ()):
                requests = self._states[key].requests
                requests.discard(request)
                if not requests:
                    del self._states[key]
