# SPDX-License-Identifier: Apache-2.0
"""What a process of the load does next: drawn from a seed, without knowing what became of it."""

import random
from dataclasses import dataclass

SHARED_KEYS = 24
FILLING_KEYS = 600

_SIZES = [0, 1, 20, 64, 4096, 20_000, 65_537, 300_000, 1 << 20]
_SIZE_WEIGHTS = [5, 3, 5, 10, 30, 20, 15, 8, 4]
_FILLING_SIZES = [128 << 10, 512 << 10, 1 << 20]

_MOVES = {
    "put": 300,
    "get": 300,
    "exists": 100,
    "remove": 80,
    "remove by force": 60,
    "upsert": 100,
    "remove_all": 2,
    "remove_all by force": 3,
}
_FILLING_WEIGHTS = {"fill": 600, "remove_all": 1, "remove_all by force": 1}


@dataclass(frozen=True)
class Move:
    """One call. `sizes` are those of the values of a put."""

    kind: str
    keys: tuple[str, ...] = ("",)
    sizes: tuple[int, ...] = ()
    force: bool = False
    replicas: int = 0


class Clashing:
    """Many on few keys: puts of different values, removals of all kinds, and reads."""

    def __init__(self, random_: random.Random, has_upsert: bool) -> None:
        self._random = random_
        self._weights = {kind: weight for kind, weight in _MOVES.items() if has_upsert or kind != "upsert"}

    def next(self, filling: bool) -> Move:
        """`filling`: also put many large values, so that the pool must evict."""
        weights = self._weights | (_FILLING_WEIGHTS if filling else {})
        (drawn,) = self._random.choices(list(weights), list(weights.values()))
        kind, _, forced = drawn.partition(" by ")
        if kind == "remove_all":
            return Move(kind, force=bool(forced))
        if kind == "fill":
            keys = tuple(f"fill/{self._random.randrange(FILLING_KEYS)}" for _ in range(self._random.randint(1, 4)))
            keys = tuple(dict.fromkeys(keys))
            return Move("put", keys, tuple(self._random.choices(_FILLING_SIZES, k=len(keys))))
        count = min(self._random.choice((1, 1, 1, 2, 5)), SHARED_KEYS)
        keys = tuple(f"k/{i}" for i in self._random.sample(range(SHARED_KEYS), count))
        sizes: tuple[int, ...] = ()
        if kind in ("put", "upsert"):
            sizes = tuple(self._random.choices(_SIZES, _SIZE_WEIGHTS, k=count))
        return Move(kind, keys, sizes, bool(forced), self._random.choice((0, 0, 1, 2)))


class Probing:
    """One put after the other, each under a key of its own: what it waits for is the pool alone."""

    KEPT = 200

    def __init__(self, random_: random.Random, writer: int) -> None:
        self._random = random_
        self._prefix = f"probe/{writer}"
        self._put = 0
        self._removed = 0
        self._turn = 0

    def next(self, filling: bool) -> Move:
        del filling
        self._turn += 1
        if self._turn % 4 == 3 and self._put > self._removed:
            return Move("get", (self._key(self._random.randrange(self._removed, self._put)),))
        if self._put - self._removed > self.KEPT:
            self._removed += 1
            return Move("remove", (self._key(self._removed - 1),), force=True)
        self._put += 1
        return Move("put", (self._key(self._put - 1),), (self._random.choice((64, 4096)),))

    def _key(self, number: int) -> str:
        return f"{self._prefix}/{number}"
