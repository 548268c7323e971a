# SPDX-License-Identifier: Apache-2.0
"""What faults work on."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kvchaos.crew import Crew, Member
from kvchaos.judge import Circumstances
from kvchaos.pool import Pool
from kvchaos.view import Masters

END_SECONDS = 30.0


@dataclass
class Stage:
    """What faults work on."""

    pool: Pool
    crew: Crew
    masters: Masters
    circumstances: Circumstances
    random: random.Random
    absence_seconds: float  # that a node is kept down at most
    mounted: bool  # the pool's files lie on a file system of their own
    clock_library: Path | None  # sets the clock of a process off, see clock.py

    def leader(self) -> str:
        view = self.masters.leader()
        return view.leader if view is not None else self.random.choice(self.pool.masters)

    def standby(self) -> str:
        leader = self.leader()
        return self.random.choice([name for name in self.pool.masters if name != leader] or [leader])

    def node(self) -> str:
        return self.random.choice(self.pool.nodes)

    def last(self, least: float, most: float) -> None:
        time.sleep(self.random.uniform(least, most))

    def client(self) -> Member:
        return self.random.choice(self.crew.living("clash"))


def await_or_not(condition: Callable[[], bool]) -> None:
    """Or not: that the pool gets whole is judged elsewhere."""
    end = time.monotonic() + END_SECONDS
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
