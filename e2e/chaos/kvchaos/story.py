# SPDX-License-Identifier: Apache-2.0
"""python -m kvchaos.story DIRECTORY KEY [SECONDS]: what happened to one key, from the histories and eviction logs that a run
left behind; with SECONDS (of CLOCK_MONOTONIC, as in a violation) only what happened about then."""

import sys
from pathlib import Path

from kvchaos.evictions import Eviction, EvictionReader
from kvchaos.history import Operation, Reader

_ABOUT_SECONDS = 20


def story(directory: Path, key: str) -> list[Operation | Eviction]:
    found: list[Operation | Eviction] = []
    for path in sorted(directory.rglob("*.history")):
        reader = Reader(path)
        found += [*reader.answered(), *reader.rest()]
    for path in sorted(directory.rglob("*.evictions")):
        log = EvictionReader(path)
        found += log.new()
        log.close()
    return sorted((it for it in found if it.key in (key, "")), key=lambda it: it.start)


def main() -> None:
    if len(sys.argv) not in (3, 4):
        raise SystemExit(__doc__)
    about = float(sys.argv[3]) if len(sys.argv) == 4 else None
    for operation in story(Path(sys.argv[1]), sys.argv[2]):
        if about is None or abs(operation.start / 1e9 - about) < _ABOUT_SECONDS:
            print(operation)


if __name__ == "__main__":
    main()
