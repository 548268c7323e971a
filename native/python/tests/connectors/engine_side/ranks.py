# SPDX-License-Identifier: Apache-2.0
"""The ranks of one engine: who holds which heads and which tokens, and whose worker is being made or called."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """How an engine spreads its KV cache. `latent`: MLA, one latent for all heads, which is on every rank of tensor parallelism.
    `pcp_deals_out`: ranks of prefill context parallelism have tokens of their own, and not all of them. `deals_blocks`: tokens
    are dealt out to the ranks of context parallelism by whole blocks, and not one by one."""

    tp: int = 1
    pcp: int = 1
    dcp: int = 1
    heads: int = 2
    latent: bool = False
    block_size: int = 16
    pcp_deals_out: bool = False
    deals_blocks: bool = False

    def __post_init__(self) -> None:
        assert self.tp % (min(self.tp, self.heads) * self.dcp) == 0, f"no engine has the shape {self}"

    @property
    def tokens_of_block(self) -> int:
        """Tokens of a block of the scheduler: each rank of context parallelism has a block of its own of them."""
        return self.block_size * self.parts

    @property
    def parts(self) -> int:
        """Of the tokens of a block, each on another rank."""
        return self.dcp * (self.pcp if self.pcp_deals_out else 1)

    def ranks(self) -> list[Rank]:
        return [Rank(self, pcp, tp) for pcp in range(self.pcp) for tp in range(self.tp)]


@dataclass(frozen=True)
class Rank:
    """One worker. Ranks of decode context parallelism are those of tensor parallelism, as in vLLM."""

    shape: Shape
    pcp: int
    tp: int

    @property
    def number(self) -> int:
        return self.pcp * self.shape.tp + self.tp

    @property
    def dcp(self) -> int:
        return self.tp % self.shape.dcp

    @property
    def heads(self) -> range:
        """A head is on several ranks where there are more ranks than heads."""
        if self.shape.tp >= self.shape.heads:
            first = self.tp // (self.shape.tp // self.shape.heads)
            return range(first, first + 1)
        each = self.shape.heads // self.shape.tp
        return range(self.tp * each, (self.tp + 1) * each)

    @property
    def part(self) -> int:
        """Which of the tokens of a block it has."""
        return self.dcp + (self.pcp * self.shape.dcp if self.shape.pcp_deals_out else 0)

    def tokens(self, block: int) -> slice:
        """Which tokens of the prompt are in its part of a block of the scheduler."""
        first = block * self.shape.tokens_of_block
        if self.shape.deals_blocks:
            first += self.part * self.shape.block_size
            return slice(first, first + self.shape.block_size)
        return slice(first + self.part, first + self.shape.tokens_of_block, self.shape.parts)

    def blocks_of(self, blocks: int) -> range:
        """Those blocks of the scheduler of which it has its part, where a prompt has so many blocks of one rank's tokens."""
        return range(len(range(self.part, blocks, self.shape.parts)))


class Group:
    """A group of ranks as connectors ask for it."""

    def __init__(self, size: int, rank: int) -> None:
        self.world_size, self.rank_in_group = size, rank


class Ranks:
    """What the stand-ins of vLLM's parallel state answer: it depends on the worker whose process would ask."""

    def __init__(self) -> None:
        self._now = Shape().ranks()[0]

    @contextlib.contextmanager
    def of(self, rank: Rank) -> Iterator[None]:
        before, self._now = self._now, rank
        try:
            yield
        finally:
            self._now = before

    def tp(self) -> Group:
        return Group(self._now.shape.tp, self._now.tp)

    def pcp(self) -> Group:
        return Group(self._now.shape.pcp, self._now.pcp)

    def dcp(self) -> Group:
        return Group(self._now.shape.dcp, self._now.dcp)


RANKS = Ranks()
