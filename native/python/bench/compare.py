# SPDX-License-Identifier: Apache-2.0
"""Measures kvpool and the reference in turn, in one run on one machine, through the same Python API; prints ratios.

    compare.py --kvpool BIN --ours PYTHON [--reference PYTHON] [--torch FOLDER] [--rounds 6]

PYTHON are interpreters that have the wheels kvpool-mooncake and mooncake-transfer-engine-non-cuda (which needs Debian's
libibverbs1). Without --reference only kvpool and the machine itself are measured. In each round all sides run the same
worker.py one after the other, and before each of them the machine is measured: a raw loopback stream, a raw round trip
and a memcpy, because it may be noisy. engine_worker.py compares the transfer engines of the same wheels, without a pool.
Each pool has one storage process of 4 GiB; all traffic is on 127.0.0.1. FOLDER has Debian's packages of torch, unpacked, for the
rows of tensors, which are left out without.

Rows with "new" are the first batches of pools that serve, measured at once, of --starts pools of each side in turn. The last of
them stay, have the same batches as a warm-up, and are what the rounds measure.
"""

import os
import statistics
import subprocess
import sys

import raw
from sides import Ours, Reference, arguments, torch_environment

TCP, SHM = "kvpool tcp", "kvpool shm"

# What is wanted of a case: (side, "x" of the reference or "of" a figure of the machine, how much, which figure).
WANTED = {
    "put 1MiB x32": [(TCP, "of", 0.85, "stream"), (TCP, "x", 1.7, None)],
    "get 1MiB x32": [(TCP, "of", 0.85, "stream"), (TCP, "x", 2.2, None), (SHM, "of", 0.8, "memcpy")],
    "put 4KiB x32": [(TCP, "x", 10, None)],
    "get 4KiB x32": [(TCP, "x", 10, None)],
    "put 4KiB x32, new": [(TCP, "x", 10, None)],
    "get 4KiB x32, new": [(TCP, "x", 10, None)],
    "get 4KiB first p50": [(TCP, "x", 3, None)],
    "get 4KiB again p50": [(TCP, "x", 5, None), (SHM, "us", 10, None)],
    "exists 1 key": [(TCP, "x", 2, None)],
    "exists 32 keys": [(TCP, "x", 2, None)],
}
LOWER_IS_BETTER = ("us", "CPU s/GB")


def measure_machine(machine):
    machine["stream"].append(raw.stream())
    machine["stream to memory"].append(raw.stream_to_memory())
    machine["memcpy"].append(raw.memory_copy())
    p50, p99 = raw.round_trips()
    machine["round trip p50"].append(p50)
    machine["round trip p99"].append(p99)


def ratio(ours, theirs, unit):
    return theirs / ours if unit in LOWER_IS_BETTER else ours / theirs


def verdict(case, medians, reference, machine, unit):
    """Each wish for this case, what came of it, and whether it is met."""
    said = []
    for side, kind, wanted, figure in WANTED.get(case, []):
        if kind == "x" and reference is None:
            continue
        ours = medians[side]
        if kind == "us":
            got, met, text = ours, ours <= wanted, f"{side[7:]} {ours:.1f} us of {wanted:g}"
        else:
            got = ratio(ours, reference, unit) if kind == "x" else ours / machine[figure]
            text = (
                f"{side[7:]} {got:.2f} of {wanted:g} x"
                if kind == "x"
                else f"{side[7:]} {got:.2f} of {wanted:g} {figure}"
            )
            met = got >= wanted
        said.append(text + (" met" if met else " NOT"))
    return ", ".join(said)


def report(results, machine):
    machine = {name: (statistics.median(values), min(values), max(values)) for name, values in machine.items()}
    print("\nthe machine itself:")
    for name, (middle, least, most) in machine.items():
        print(f"  {name:16}{middle:8.2f} {'us' if 'trip' in name else 'GB/s'}  ({least:.2f} to {most:.2f})")
    machine = {name: values[0] for name, values in machine.items()}
    print(f"\n{'case':24}{'':12}{TCP:>12}{SHM:>12}{'reference':>12}{'x tcp':>8}{'x shm':>8}   wanted")
    units = {case: unit for run in results[TCP] for case, (_, unit) in run.items()}
    for case, unit in units.items():
        medians = {
            side: statistics.median(run[case][0] for run in runs if case in run) for side, runs in results.items()
        }
        theirs = medians.get(Reference.name)
        row = f"{case:24}{unit:12}{medians[TCP]:12.2f}{medians[SHM]:12.2f}"
        if theirs is None:
            row += " " * 28
        else:
            row += f"{theirs:12.2f}{ratio(medians[TCP], theirs, unit):8.2f}{ratio(medians[SHM], theirs, unit):8.2f}"
        print(row + "   " + verdict(case, medians, theirs, machine, unit))


def torch_for_all(options):
    """The folder of torch where the interpreters of both sides can import it; else None, and says why."""
    for python in filter(None, (options.ours, options.reference)):
        environment = {**os.environ, **torch_environment(options.torch)}
        done = subprocess.run([python, "-c", "import torch"], capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            why = done.stderr.strip().rpartition("\n")[2]
            print(f"tensors are not measured: {python} cannot import torch of {options.torch}: {why}", file=sys.stderr)
            return None
    return options.torch


def ways(options):
    """How each side is started, by its name."""
    started = {
        TCP: lambda: Ours(TCP, options.ours, options.kvpool, "tcp"),
        SHM: lambda: Ours(SHM, options.ours, options.kvpool, "shm,tcp"),
    }
    if options.reference:
        started[Reference.name] = lambda: Reference(options.reference)
    return started


def start_all(options, sides, results):
    """Starts the sides in turn, each as often as asked, and measures what each does first; `sides` gets those that stay."""
    for start in range(options.starts):
        for name, started in ways(options).items():
            side = started()
            sides.append(side)
            results[name].append(side.begin(start))
            if start + 1 < options.starts:
                sides.pop().end()


def main():
    parser = arguments(__doc__, rounds=6)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument(
        "--torch", help="folder with Debian's packages of torch, unpacked; without, tensors are left out"
    )
    options = parser.parse_args()
    torch = torch_for_all(options) if options.torch else None
    sides = []
    machine = {name: [] for name in ("stream", "stream to memory", "memcpy", "round trip p50", "round trip p99")}
    results = {name: [] for name in ways(options)}
    try:
        start_all(options, sides, results)
        for round_number in range(options.rounds):
            for side in sides:
                measure_machine(machine)
                results[side.name].append(side.measure(round_number, torch))
            print(f"round {round_number + 1} of {options.rounds} done", file=sys.stderr)
    finally:
        for side in sides:
            side.end()
    report(results, machine)


if __name__ == "__main__":
    main()
