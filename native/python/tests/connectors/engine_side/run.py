# SPDX-License-Identifier: Apache-2.0
"""One engine's process: makes the connector as its command line and environment say, and does what the test asks.

Standard input is a request as JSON: the module here that knows the engine, the command line, and steps, each the name of a
method and its arguments. What they return goes to the file that the request names; logs are left to the engine.

Every engine has the same three: save(prompt, blocks) stores the first blocks of a prompt, lookup(prompt, blocks) says how many of
the prompt's first blocks there are, and load(prompt, blocks) fetches these into memory, checks all of the memory byte for
byte, and says of each whether it is there. remove_all() and remove(pattern) are another client's; freeze(pids) and thaw(pids)
stop processes of the pool and let them go on.
"""

import contextlib
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def _other_client() -> Iterator[Any]:
    from mooncake.store import MooncakeDistributedStore

    store = MooncakeDistributedStore()
    assert store.setup("localhost", "P2PHANDSHAKE", 0, 16 << 20, "tcp", "", os.environ["MOONCAKE_MASTER"]) == 0
    yield store
    store.close()


def remove_all() -> None:
    """As another client of the pool: everything is gone, in use or not."""
    with _other_client() as store:
        assert store.remove_all(force=True) >= 0


def remove(pattern: str) -> None:
    """As another client: objects whose keys match are gone, in use or not."""
    with _other_client() as store:
        assert store.remove_by_regex(pattern, force=True) > 0


def freeze(pids: list[int]) -> None:
    """Returns when no thread of them runs any more: the signal alone lets one that is answering finish."""
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    for pid in pids:
        while not all(_stands_still(thread) for thread in Path(f"/proc/{pid}/task").glob("*/stat")):
            time.sleep(0.001)


def _stands_still(thread: Path) -> bool:
    return thread.read_text().rpartition(")")[2].split()[0] == "T"


def thaw(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGCONT)


OF_THE_POOL = {"remove": remove, "remove_all": remove_all, "freeze": freeze, "thaw": thaw}


def main() -> None:
    request = json.load(sys.stdin)
    engine = importlib.import_module(request["engine"]).start(request["arguments"])
    answers = [(OF_THE_POOL.get(step) or getattr(engine, step))(**arguments) for step, arguments in request["steps"]]
    engine.close()
    Path(request["answers"]).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
