# SPDX-License-Identifier: Apache-2.0
"""Faults of connections: reset, cut in the middle, refused, late, slow, and silent ones."""

from collections.abc import Iterator
from contextlib import contextmanager

from kvchaos.proxy import Link
from kvchaos.stage import Stage


def reset_connections(stage: Stage) -> None:
    for _ in range(stage.random.randint(1, 8)):
        stage.pool.proxy.reset(stage.random.choice(stage.pool.links()))
        stage.last(0, 0.3)


def cut_in_frames(stage: Stage) -> None:
    link = stage.random.choice(stage.pool.links())
    with _healed([link], stage):
        for _ in range(stage.random.randint(1, 10)):
            stage.pool.proxy.cut(link, 1)
            stage.last(0.05, 0.5)


def refuse_link(stage: Stage) -> None:
    link = stage.random.choice(stage.pool.links())
    with _healed([link], stage):
        stage.pool.proxy.refuse(link)
        stage.last(1, 6)


def delay_links(stage: Stage) -> None:
    links = stage.random.sample(stage.pool.links(), k=max(1, len(stage.pool.links()) // 2))
    with _healed(links, stage):
        for link in links:
            stage.pool.proxy.delay(link, stage.random.uniform(0.02, 0.4))
        stage.last(2, 5)


def slow_links_to_nodes(stage: Stage) -> None:
    """Slow writers and slow readers: values take seconds."""
    links = stage.pool.links(from_="clients", to=stage.node())
    with _healed(links, stage):
        for link in links:
            stage.pool.proxy.throttle(link, stage.random.choice((20_000, 200_000)))
        stage.last(3, 8)


def part_node_from_masters(stage: Stage) -> None:
    _part(stage, stage.pool.links(from_=stage.node()))


def part_leader_from_nodes(stage: Stage) -> None:
    leader = stage.leader()
    _part(stage, [link for link in stage.pool.links(to=leader) if not link.name.startswith("clients")])


def part_clients_from_leader(stage: Stage) -> None:
    _part(stage, stage.pool.links(from_="clients", to=stage.leader()))


def _part(stage: Stage, links: list[Link]) -> None:
    with _healed(links, stage):
        for link in links:
            stage.pool.proxy.stall(link)
        stage.last(1, 8)


@contextmanager
def _healed(links: list[Link], stage: Stage) -> Iterator[None]:
    try:
        yield
    finally:
        for link in links:
            stage.pool.proxy.heal(link)
