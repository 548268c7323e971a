# SPDX-License-Identifier: Apache-2.0
"""One process of the load: does what its seed says until told otherwise, and records it.

Commands on standard input, a line each: `pause` (answered with `paused` on standard output once no call is under way),
`resume`, `fill` and `relax` (above or below the watermark). It ends with its standard input.
"""

import argparse
import contextlib
import logging
import os
import random
import select
import sys
import time
from pathlib import Path

from kvchaos.history import Recorder
from kvchaos.load import Clashing, Move, Probing
from kvchaos.processes import die_with_parent
from kvchaos.stores import APIS, KvpoolStore, MooncakeStore
from kvchaos.values import Mark, identity, make
from kvpool import StorageNode

_TRANSIENT_BYTES = 24 << 20
_ADMISSION_SECONDS = 30.0


class Commands:
    """Standard input without a thread: a process with one thread records calls in their order."""

    def __init__(self) -> None:
        self._rest = b""
        self.filling = False
        self.ended = False

    def obey(self) -> None:
        """Does what was said meanwhile; returns when there is work to do, or none any more."""
        paused = False
        while not self.ended and (paused or select.select([0], [], [], 0)[0]):
            for word in self._words():
                if word == "pause":
                    paused = True
                    print("paused", flush=True)
                elif word == "resume":
                    paused = False
                elif word in ("fill", "relax"):
                    self.filling = word == "fill"

    def _words(self) -> list[str]:
        data = os.read(0, 4096)
        self.ended = not data
        *lines, self._rest = (self._rest + data).split(b"\n")
        return [line.decode() for line in lines]


class Player:
    """Makes a move and records it."""

    def __init__(self, store: KvpoolStore | MooncakeStore, recorder: Recorder, writer: int) -> None:
        self._store = store
        self._recorder = recorder
        self._writer = writer
        self._numbers = 0

    def play(self, move: Move) -> None:
        values = [self._value(key, size) for key, size in zip(move.keys, move.sizes, strict=False)]
        marks = [(identity(key, value), len(value)) for key, value in zip(move.keys, values, strict=False)]
        before = self._store.retries()
        reuse = move.kind == "get" and self._store.reuse
        call = self._recorder.begin(move.kind, move.keys, marks, move.force, reuse)
        if move.kind in ("put", "upsert"):
            answers = self._store.put(move.keys, values, move.replicas, move.kind == "upsert")
        elif move.kind == "get":
            answers = self._store.get(move.keys)
        elif move.kind == "exists":
            answers = self._store.exists(move.keys)
        elif move.kind == "remove":
            answers = self._store.remove(move.keys, move.force)
        else:
            answers = self._store.remove_all(move.force)
        self._recorder.end(call, answers, before < 0 or self._store.retries() != before)

    def _value(self, key: str, size: int) -> bytes:
        self._numbers += 1
        return make(key, Mark(self._writer, self._numbers), size)


def main() -> None:
    parser = argparse.ArgumentParser(description="one process of the load; started by kvchaos")
    parser.add_argument("--masters", required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--writer", type=int, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--api", choices=APIS, required=True)
    parser.add_argument("--role", choices=("clash", "probe"), required=True)
    parser.add_argument("--transient", action="store_true")
    parser.add_argument("--pace", type=float, required=True, help="mean seconds between two calls")
    given = parser.parse_args()
    die_with_parent()
    logging.getLogger("mooncake.store").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as closing:
        if given.transient:
            node = closing.enter_context(StorageNode(given.masters, _TRANSIENT_BYTES, advertise_host="127.0.0.1"))
            node.wait_ready(_ADMISSION_SECONDS)
        if given.api == "mooncake":
            store = MooncakeStore(given.masters)
        else:
            protocol, _, reuse = given.api.partition("-")
            protocols = ("shm", "tcp") if protocol == "shm" else ("tcp",)
            store = KvpoolStore(given.masters, given.log.stem, protocols, bool(reuse))
        closing.callback(store.close)
        print("ready", flush=True)
        draws = random.Random(given.seed)
        moves = Clashing(draws, store.has_upsert) if given.role == "clash" else Probing(draws, given.writer)
        player, commands = Player(store, Recorder(given.log), given.writer), Commands()
        while True:
            commands.obey()
            if commands.ended:
                break
            player.play(moves.next(commands.filling))
            time.sleep(draws.uniform(0, 2 * given.pace))


if __name__ == "__main__":
    sys.exit(main())
