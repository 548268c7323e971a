# SPDX-License-Identifier: Apache-2.0
"""python -m kvchaos: see --help. Exit codes: 0 nothing was violated, 1 something was, 2 it could not be tried."""

import argparse
import random
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from kvchaos.campaign import WHOLE_SECONDS, Campaign
from kvchaos.clock import build_offset_library
from kvchaos.crew import Crew
from kvchaos.judge import Circumstances
from kvchaos.kinds import NAMES, possible
from kvchaos.memory import memory
from kvchaos.pool import Pool, Shape
from kvchaos.processes import Supervisor
from kvchaos.proxy import Proxy
from kvchaos.report import Result, table, write_json, write_junit
from kvchaos.stage import Stage
from kvchaos.stores import APIS
from kvchaos.view import Masters
from kvchaos.watch import Watch


class CannotTry(Exception):
    """The run did not get as far as a fault."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="e2e/chaos/run", description="Faults on the processes of a pool under load.")
    parser.add_argument("--minutes", type=float, default=5.0, help="how long faults go on (default 5)")
    parser.add_argument("--seed", type=int, help="of the faults and the load (default: drawn, and said)")
    parser.add_argument("--masters", type=int, default=2)
    parser.add_argument("--storage-nodes", type=int, default=2)
    parser.add_argument("--replicas", type=int, default=1, choices=(1, 2), help="the pool's default")
    parser.add_argument(
        "--clients", type=int, default=3, help="processes that put and remove the same keys (default 3)"
    )
    parser.add_argument("--pace", type=float, default=0.01, help="mean seconds between two calls of a process")
    parser.add_argument("--segment-mib", type=int, default=32, help="of each storage node (default 32)")
    parser.add_argument(
        "--absence",
        type=float,
        default=10.0,
        help="seconds that a node is kept down at most, and 4 at least (default 10)",
    )
    parser.add_argument("--kinds", help=f"faults, comma-separated (default all): {', '.join(NAMES)}")
    parser.add_argument("--kvpool", type=Path, required=True, help="the command; e2e/chaos/run says it")
    parser.add_argument("--directory", type=Path, required=True, help="for logs; emptied when nothing was violated")
    parser.add_argument("--junit", type=Path, help="where to leave a report as JUnit XML")
    given = parser.parse_args()
    problems = [
        *([] if 0 < given.minutes <= 24 * 60 else ["--minutes must be more than 0 and at most 1440"]),
        *([] if 1 <= given.masters <= 9 else ["--masters must be 1 to 9"]),
        *([] if 1 <= given.storage_nodes <= 16 else ["--storage-nodes must be 1 to 16"]),
        *([] if 1 <= given.clients <= 32 else ["--clients must be 1 to 32"]),
        *([] if 0 <= given.pace <= 10 else ["--pace must be 0 to 10"]),
        *([] if 32 <= given.segment_mib <= 1 << 20 else ["--segment-mib must be 32 to 1048576"]),
        *([] if 4 <= given.absence <= 3600 else ["--absence must be 4 to 3600"]),
        *([] if given.kvpool.is_file() else [f"there is no command {given.kvpool}; build it with .ci/dist bin wheels"]),
        *(f"no fault is called {name!r}" for name in (given.kinds or NAMES[0]).split(",") if name not in NAMES),
    ]
    if problems:
        parser.error("; ".join(problems))
    return given


def main() -> int:
    given = arguments()
    seed = given.seed if given.seed is not None else random.randrange(1 << 32)
    directory = given.directory / f"seed-{seed}-{time.strftime('%H%M%S')}"
    directory.mkdir(parents=True)
    started = time.monotonic()

    def say(what: str) -> None:
        print(f"{time.monotonic() - started:7.1f} s  {what}", flush=True)

    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # as Ctrl-C: everything we started ends
    say(f"seed {seed}, logs in {directory}")
    result = Result(seed, 0)
    try:
        _run(given, result, directory, say)
    except CannotTry as why:
        print(f"chaos: {why}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        result.problems.append("interrupted")
    except TimeoutError:
        result.problems.append(f"this machine is too busy for the tool itself:\n{traceback.format_exc()}")
    result.seconds = time.monotonic() - started
    return _conclude(given, result, directory)


def _run(given: argparse.Namespace, result: Result, directory: Path, say: Callable[[str], None]) -> None:
    draws = random.Random(result.seed)
    shape = Shape(given.masters, given.storage_nodes, given.replicas, given.segment_mib << 20)
    with ExitStack() as closing:
        # A truncated segment is set aside, so for a moment there is one more.
        room = closing.enter_context(memory((shape.nodes + 1) * (shape.segment_bytes + (8 << 20))))
        if not room.mounted:
            say("may not mount a file system: 'fill file system' is left out")
        proxy, supervisor = Proxy(), Supervisor()
        closing.callback(proxy.close)
        closing.callback(supervisor.close)
        pool = Pool(given.kvpool.resolve(), room.path, directory / "processes", shape, supervisor, proxy, draws)
        pool.start()
        masters = Masters({name: pool.admin_port[name] for name in pool.masters})
        circumstances = Circumstances(lease_ns=round(shape.object_lease_seconds * 1e9))
        circumstances.hidden.open(time.monotonic_ns())
        watch = Watch(masters, circumstances)
        closing.callback(watch.close)
        if not watch.await_whole(WHOLE_SECONDS):
            raise CannotTry(f"the pool did not get ready within {WHOLE_SECONDS:.0f} s; see {pool.logs}")
        circumstances.hidden.close(0, time.monotonic_ns())
        say("the pool is ready")
        crew = Crew(pool.master_list(), directory / "clients", given.pace)
        closing.callback(crew.close)
        members = [crew.join("probe", "tcp", draws.getrandbits(32))]
        members += [crew.join("clash", APIS[i % len(APIS)], draws.getrandbits(32)) for i in range(given.clients)]
        library = build_offset_library(directory)
        if library is None:
            say("there is no C compiler: 'set clock off' is left out")
        stage = Stage(pool, crew, masters, circumstances, draws, given.absence, room.mounted, library)
        kinds = possible(stage, given.kinds.split(",") if given.kinds else None)
        if not kinds:
            raise CannotTry("none of these faults is possible here")
        if not all([crew.await_ready(member) for member in members]):
            raise CannotTry("; ".join(crew.problems))
        campaign = Campaign(stage, watch, kinds, result, say)
        closing.callback(campaign.close)
        campaign.run(given.minutes * 60)
        result.problems += [*crew.problems, *watch.problems, *supervisor.deaths.unexpected]


def _conclude(given: argparse.Namespace, result: Result, directory: Path) -> int:
    print()
    print(table(result))
    for line in [*map(str, result.violations[:20]), *result.problems[:20]]:
        print(line)
    if given.junit:
        write_junit(result, given.junit)
    if result.good:
        shutil.rmtree(directory)
        return 0
    write_json(result, directory / "result.json")
    print(f"\nhistories, logs and result.json are in {directory}; repeat with --seed {result.seed}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
