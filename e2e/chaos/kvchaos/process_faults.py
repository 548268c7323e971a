# SPDX-License-Identifier: Apache-2.0
"""Faults of masters and storage nodes: killed, told to end, frozen; and a segment that lost its end."""

import os
import time

from kvchaos.clock import offset_environment
from kvchaos.stage import END_SECONDS, Stage, await_or_not

_OFFSETS = (4, 60, 3_600, 10 * 365 * 86_400)  # seconds


def kill_leader(stage: Stage) -> None:
    stage.pool.supervisor.kill(stage.leader())


def kill_standby(stage: Stage) -> None:
    stage.pool.supervisor.kill(stage.standby())


def kill_all_masters(stage: Stage) -> None:
    for master in stage.pool.masters:
        stage.pool.supervisor.kill(master)


def terminate_leader(stage: Stage) -> None:
    _terminate(stage, stage.leader())


def terminate_standby(stage: Stage) -> None:
    _terminate(stage, stage.standby())


def freeze_leader(stage: Stage) -> None:
    _freeze(stage, stage.leader())


def freeze_standby(stage: Stage) -> None:
    _freeze(stage, stage.standby())


def kill_node(stage: Stage) -> None:
    stage.pool.supervisor.kill(stage.node())


def kill_all_nodes(stage: Stage) -> None:
    for node in stage.pool.nodes:
        stage.pool.supervisor.kill(node)


def keep_node_down(stage: Stage) -> None:
    """For so long that its copies are made anew elsewhere; it comes back with its own."""
    node = stage.node()
    stage.pool.supervisor.hold(node)
    stage.pool.supervisor.kill(node)
    stage.last(4, stage.absence_seconds)
    stage.pool.supervisor.release(node)


def terminate_node(stage: Stage) -> None:
    _terminate(stage, stage.node())


def freeze_node(stage: Stage) -> None:
    _freeze(stage, stage.node())


def kill_node_and_leader(stage: Stage) -> None:
    leader = stage.leader()
    stage.pool.supervisor.kill(stage.node())
    stage.last(0, 1)
    stage.pool.supervisor.kill(leader)


def set_clock_off(stage: Stage) -> None:
    """The next lives of a process have another wall clock than everybody else."""
    name = stage.random.choice(stage.pool.masters + stage.pool.nodes)
    seconds = stage.random.choice((-1, 1)) * stage.random.choice(_OFFSETS)
    stage.pool.supervisor.change_environment(name, offset_environment(stage.clock_library, seconds))
    stage.pool.supervisor.kill(name)


def truncate_segment(stage: Stage) -> None:
    """The file of a node that is down loses its end, somewhere: what lay there is gone, the node must not fail."""
    node = stage.node()
    supervisor, segment = stage.pool.supervisor, stage.pool.segment(node)
    lost = stage.circumstances.perishable.open(time.monotonic_ns())
    supervisor.hold(node)
    supervisor.kill(node)
    if supervisor.await_end(node, END_SECONDS) and segment.exists():
        os.truncate(segment, stage.random.randrange(segment.stat().st_size))
    starts = supervisor.starts(node)
    supervisor.release(node)
    await_or_not(lambda: supervisor.starts(node) > starts)
    stage.last(2, 4)
    stage.circumstances.perishable.close(lost, time.monotonic_ns())
    for aside in segment.parent.glob(f"{segment.name}.set-aside-*"):
        aside.unlink()  # a person's work: they would fill the file system


def _terminate(stage: Stage, name: str) -> None:
    stage.pool.supervisor.terminate(name)
    stage.pool.supervisor.await_end(name, END_SECONDS)


def _freeze(stage: Stage, name: str) -> None:
    stage.pool.supervisor.pause(name)
    try:
        stage.last(0.3, 8)
    finally:
        stage.pool.supervisor.resume(name)
