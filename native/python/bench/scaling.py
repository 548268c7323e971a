# SPDX-License-Identifier: Apache-2.0
"""How puts and gets scale, ours and the reference's in turn: with clients, sizes of values, batches and storage nodes.

    scaling.py --kvpool BIN --ours PYTHON [--reference PYTHON] [--rounds 3] [--charts DIRECTORY]

PYTHON are interpreters as for compare.py; this file itself runs in one that has matplotlib. Every point moves at most
512 MiB, for at most a second each way; a sweep's pool is new in each round. Prints the medians, names each point that
falls far behind the one before (a cliff), and draws a chart a sweep into DIRECTORY (default: charts beside this file).
"""

import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import charts
from sides import WORKER, Ours, Reference, arguments

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
POINT_BYTES = 512 * MIB
# The points of a sweep and what was written between them must stay below the watermark: nothing is evicted.
SEGMENT_BYTES = 6 * GIB
# A point that reaches less than this part of the one before it is a cliff.
CLIFF = 0.6
WORKER_SECONDS = 120


@dataclass(frozen=True)
class Point:
    """One load; `label` is its place on the axis of its sweep."""

    label: str
    clients: int = 1
    size: int = MIB
    batch: int = 32
    nodes: int = 1


def sized(size):
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


SIZES = [KIB << (2 * step) for step in range(9)]
# name: (axis, whether objects a second say more than bytes, points)
SWEEPS = {
    "clients": ("clients, 32 values of 1 MiB in a call", False, [Point(str(n), clients=n) for n in (1, 2, 4, 8)]),
    "sizes": (
        "size of a value, at most 32 values and 64 MiB in a call",
        False,
        [Point(sized(size), size=size, batch=max(1, min(32, 64 * MIB // size))) for size in SIZES],
    ),
    "batches": (
        "values of 4 KiB in a call",
        True,
        [Point(str(n), size=4 * KIB, batch=n) for n in (1, 4, 16, 64, 256)],
    ),
    "nodes": ("storage nodes, 32 values of 1 MiB in a call", False, [Point(str(n), nodes=n) for n in (1, 2, 4)]),
}


# Not reported: a pool that has just started still compiles its code.
WARM_UP = Point("", size=4 * KIB)


class Client:
    """A worker.py in the interpreter of its side."""

    def __init__(self, side, name, point):
        self._side = side.name
        command = [side.python, str(WORKER), side.master, "scale", str(POINT_BYTES // point.clients)]
        command += [name, str(point.size), str(point.batch)]
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as the process)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._complaints}
        self._process = subprocess.Popen(command, text=True, env=side.environment(), **pipes)

    def wait_for(self, beginning):
        """The next line that begins so; the reference logs to its output as well."""
        for line in self._process.stdout:
            if line.startswith(beginning):
                return line
        self._complaints.seek(0)
        said = self._complaints.read()[-2000:].decode(errors="replace")
        raise SystemExit(f"{self._side}: a client ended, {self._process.args[2:]}: {said}")

    def tell(self, verb):
        self._process.stdin.write(verb + "\n")
        self._process.stdin.flush()

    def end(self):
        self._process.stdin.close()
        self._process.wait(WORKER_SECONDS)


def measure(side, name, point):
    """{verb: objects a second} of all clients together, from the start of the first to the end of the last."""
    clients = [Client(side, f"{name}-{i}", point) for i in range(point.clients)]
    for client in clients:
        client.wait_for("ready")
    rates = {}
    for verb in ("put", "get"):
        for client in clients:
            client.tell(verb)
        runs = [json.loads(client.wait_for('{"objects"')) for client in clients]
        seconds = max(run["end"] for run in runs) - min(run["start"] for run in runs)
        rates[verb] = sum(run["objects"] for run in runs) / seconds
    for client in clients:
        client.end()
    return rates


def sides(options, nodes):
    """Makers of the pools, so that each runs alone: the machine is small."""
    room = {"nodes": nodes, "segment_bytes": SEGMENT_BYTES // nodes}
    yield lambda: Ours("kvpool tcp", options.ours, options.kvpool, "tcp", **room)
    yield lambda: Ours("kvpool shm", options.ours, options.kvpool, "shm,tcp", **room)
    if options.reference:
        yield lambda: Reference(options.reference, **room)


def sweep(options, name, points, round_number, results):
    for nodes in sorted({point.nodes for point in points}):
        for start in sides(options, nodes):
            side = start()
            try:
                measure(side, f"{name}-warm-{round_number}", WARM_UP)
                for point in (each for each in points if each.nodes == nodes):
                    for verb, rate in measure(side, f"{name}-{point.label}-{round_number}", point).items():
                        results.setdefault((side.name, verb), {}).setdefault(point, []).append(rate)
            finally:
                side.end()


def cliffs(labels, values):
    """Labels of the points at which more load brings far less than the point before."""
    return [
        label for label, before, value in zip(labels[1:], values, values[1:], strict=False) if value < CLIFF * before
    ]


def report(name, axis, in_objects, points, results):
    unit = "k objects/s" if in_objects else "GB/s"
    print(f"\n{name}: {axis} ({unit})\n{'':18}" + "".join(f"{point.label:>10}" for point in points))
    lines, labels = {}, [point.label for point in points]
    for (side, verb), rates in results.items():
        middle = [statistics.median(rates[point]) for point in points]
        lines[(side, verb)] = shown = [
            rate / 1e3 if in_objects else rate * point.size / 1e9 for rate, point in zip(middle, points, strict=True)
        ]
        row = f"{verb} {side:14}" + "".join(f"{value:10.2f}" for value in shown)
        fallen = cliffs(labels, shown)
        print(row + (f"   cliff at {', '.join(fallen)}" if fallen else ""))
    return charts.Chart(name, axis, unit, labels, lines)


def main():
    parser = arguments(__doc__, rounds=3)
    parser.add_argument("--sweeps", default=",".join(SWEEPS), help="some of clients,sizes,batches,nodes")
    parser.add_argument("--charts", type=Path, default=Path(__file__).with_name("charts"))
    options = parser.parse_args()
    unknown = set(options.sweeps.split(",")) - set(SWEEPS)
    if unknown:
        parser.error(f"no such sweep: {', '.join(sorted(unknown))}; there are {', '.join(SWEEPS)}")
    for name in options.sweeps.split(","):
        axis, in_objects, points = SWEEPS[name]
        results = {}
        for round_number in range(options.rounds):
            sweep(options, name, points, round_number, results)
            print(f"{name}: round {round_number + 1} of {options.rounds} done", file=sys.stderr)
        charts.draw(report(name, axis, in_objects, points, results), options.charts)


if __name__ == "__main__":
    main()
