# SPDX-License-Identifier: Apache-2.0
"""One engine and what it has to do."""

from __future__ import annotations

import asyncio
from typing import Any

from kvpool_engines.proxy.instances.description import Description

# A prompt that is computed costs a prefill instance its time; blocks that wait to be handed over cost it memory only.
_WEIGHT_OF_HELD = 0.3


class Instance:
    """An engine. Its counts change through Claim only, `healthy` through its health check and failed connections."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self.sources: set[str] = set()  # who lists it; without any it is drained
        self.healthy = False
        self.problem = "not checked yet"
        self.recheck = asyncio.Event()
        self.running = 0  # requests whose end has not come: for prefill, whose blocks are not handed over
        self.computing = 0  # tokens of requests without an answer
        self.held = 0  # tokens of answered requests whose blocks are not handed over
        self.done = 0
        self.failed = 0

    @property
    def url(self) -> str:
        return self.description.url

    @property
    def draining(self) -> bool:
        return not self.sources

    @property
    def ready(self) -> bool:
        return self.healthy and not self.draining

    @property
    def load(self) -> float:
        return self.computing + _WEIGHT_OF_HELD * self.held

    def suspect(self, problem: str) -> None:
        """It could not be reached: no further request until a check succeeds, which is made at once."""
        self.healthy, self.problem = False, problem
        self.recheck.set()

    def as_json(self) -> dict[str, Any]:
        state = "draining" if self.draining else "ready" if self.healthy else "unhealthy"
        return {
            "url": self.url,
            "role": self.description.role.value,
            "bootstrap_port": self.description.bootstrap_port,
            "state": state,
            "problem": "" if self.healthy else self.problem,
            "sources": sorted(self.sources),
            "running": self.running,
            "tokens": self.computing + self.held,
            "done": self.done,
            "failed": self.failed,
        }


class Claim:
    """A request's part of the load of an instance, from its choice until done() or failed()."""

    def __init__(self, instance: Instance, tokens: int) -> None:
        self.instance = instance
        self._tokens = tokens
        self._answered = self._over = False
        instance.running += 1
        instance.computing += tokens

    def answered(self) -> None:
        """The prompt is computed; its blocks stay until they are handed over."""
        if not self._answered and not self._over:
            self._answered = True
            self.instance.computing -= self._tokens
            self.instance.held += self._tokens

    def done(self) -> None:
        """The request ended well: for prefill, once the decode instance has the blocks."""
        if self._end():
            self.instance.done += 1

    def failed(self) -> None:
        """It failed there."""
        if self._end():
            self.instance.failed += 1

    def given_up(self) -> None:
        """It ended for a reason that the instance has no part in. Nothing happens when it is over already."""
        self._end()

    def _end(self) -> bool:
        if self._over:
            return False
        self._over = True
        self.instance.running -= 1
        if self._answered:
            self.instance.held -= self._tokens
        else:
            self.instance.computing -= self._tokens
        return True
