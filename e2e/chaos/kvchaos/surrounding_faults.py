# SPDX-License-Identifier: Apache-2.0
"""Faults of what is around the processes: the Lease, the clients, and room in memory."""

import os
import time

from kvchaos.stage import Stage, await_or_not

_FILLER_PIECE = 1 << 20


def delete_lease(stage: Stage) -> None:
    stage.pool.lease.delete()
    stage.last(1.2, 3)  # until the masters come to look at it


def steal_lease(stage: Stage) -> None:
    """Once at the leader's epoch, once above it; the thief is never heard of again."""
    stage.pool.lease.steal(seconds=stage.random.choice((1, 5)), epochs_ahead=stage.random.choice((0, 1, 7)))
    stage.last(1.2, 3)


def freeze_client(stage: Stage) -> None:
    """Also for longer than a grant lives, in whatever it was about."""
    member = stage.client()
    stage.crew.freeze(member)
    stage.last(1, 12)
    stage.crew.thaw(member)


def kill_client(stage: Stage) -> None:
    member = stage.client()
    stage.crew.kill(member)
    stage.crew.await_ready(stage.crew.join(member.role, member.api, stage.random.getrandbits(32)))


def transient_node(stage: Stage) -> None:
    """A client brings memory, and goes with it: with a word or without."""
    perishable = stage.circumstances.perishable.open(time.monotonic_ns())
    api = stage.random.choice(("shm", "tcp"))
    member = stage.crew.join("clash", api, stage.random.getrandbits(32), transient=True)
    if stage.crew.await_ready(member):
        stage.last(2, 6)
    if stage.random.random() < 0.5:
        stage.crew.kill(member)
    else:
        stage.crew.dismiss(member)
    # While a leader knows the node it may have one more object on it.
    await_or_not(lambda: (view := stage.masters.leader()) is not None and view.transient_nodes == 0)
    stage.circumstances.perishable.close(perishable, time.monotonic_ns())


def fill_file_system(stage: Stage) -> None:
    """No byte is left beside the segments: the Lease cannot be written, and a node that restarts needs no more."""
    filler = stage.pool.data / "filler"
    try:
        with filler.open("wb", buffering=0) as file:
            _write_until_full(file.fileno())
            stage.last(1, 3)
            if stage.random.random() < 0.5:
                stage.pool.supervisor.kill(stage.node())
            stage.last(1, 4)
    finally:
        filler.unlink(missing_ok=True)


def _write_until_full(file: int) -> None:
    piece = _FILLER_PIECE
    while piece:
        try:
            os.write(file, bytes(piece))
        except OSError:
            piece //= 2
