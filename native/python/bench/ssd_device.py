# SPDX-License-Identifier: Apache-2.0
"""What the SSD tier adds to its disk, with fio's figures for that disk from the same run.

    ssd_device.py --bench native/build/release/bench/kv_ssd_bench --directory DIR [--mebibytes 256] [--rounds 5]

In each round `kv_ssd_bench` (the tier, and plain ways to the same bytes of the same file) and fio (a file beside it, already
written, O_DIRECT, as many jobs as the tier has threads) take turns. Prints the medians in MB/s as a table. Without fio
(Debian: apt-get install fio) its columns are left out, and a line says so.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

JOBS = 4  # threads of the tier
SIZES_KIB = (4, 64, 1024, 4096)
WORK = [(direction, size) for size in SIZES_KIB for direction in ("write", "read")]
PATIENCE_SECONDS = 600


def tier(bench, directory, mebibytes):
    """One round of kv_ssd_bench: MB/s of each of its ways by direction and KiB."""
    done = subprocess.run(
        [bench, directory, str(mebibytes), "1"], check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    head, _, *lines = done.stdout.splitlines()
    ways = [name.strip() for name in head.strip("| ").split("|")[1:]]
    found = {}
    for line in lines:
        what, *speeds = [cell.strip() for cell in line.strip("| ").split("|")]
        direction, size, _ = what.split()
        found[direction, int(size)] = dict(zip(ways, map(float, speeds), strict=True))
    return found


def fio(file, engine, direction, size_kib, mebibytes):
    """MB/s of `JOBS` jobs, each in its own part of the file, which is written before anything is timed."""
    part = mebibytes // JOBS
    options = {
        "name": "disk", "filename": file, "rw": direction, "bs": f"{size_kib}k", "direct": 1, "ioengine": engine,
        "iodepth": 1, "numjobs": JOBS, "thread": 1, "offset_increment": f"{part}m", "size": f"{part}m",
        "filesize": f"{mebibytes}m", "overwrite": 1, "group_reporting": 1, "output-format": "json",
    }  # fmt: skip
    done = subprocess.run(
        ["fio", *(f"--{name}={value}" for name, value in options.items())],
        check=True, capture_output=True, text=True, timeout=PATIENCE_SECONDS,
    )  # fmt: skip
    return json.loads(done.stdout)["jobs"][0][direction]["bw_bytes"] / 1e6


def rounds_of(options, engines):
    file = os.path.join(options.directory, "fio")
    speeds = {work: {} for work in WORK}
    for _ in range(options.rounds):
        ours = tier(options.bench, options.directory, options.mebibytes)
        for work in WORK:
            direction, size = work
            for engine in engines:
                ours[work][f"fio, {engine}, {JOBS} jobs"] = fio(file, engine, direction, size, options.mebibytes)
            for way, speed in ours[work].items():
                speeds[work].setdefault(way, []).append(speed)
    return speeds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, help="the program kv_ssd_bench")
    parser.add_argument("--directory", required=True, help="on the disk that is meant; what is made there is removed")
    parser.add_argument("--mebibytes", type=int, default=256, help="moved in each step (default: 256)")
    parser.add_argument("--rounds", type=int, default=5, help="(default: 5)")
    options = parser.parse_args()
    if options.mebibytes < 16 or options.mebibytes % JOBS != 0 or options.rounds < 1:
        parser.error(f"--mebibytes is a multiple of {JOBS}, 16 at least, and --rounds 1 at least")

    engines = ("psync", "io_uring") if shutil.which("fio") else ()
    if not engines:
        print(
            "ssd_device: fio is not installed (Debian: apt-get install fio), so nothing stands beside the tier",
            file=sys.stderr,
        )
    speeds = rounds_of(options, engines)
    ways = list(next(iter(speeds.values())))
    print("| MB/s | " + " | ".join(ways) + " |\n|" + "---|" * (len(ways) + 1))
    for (direction, size), by_way in speeds.items():
        print(
            f"| {direction} {size} KiB | " + " | ".join(f"{statistics.median(by_way[way]):.0f}" for way in ways) + " |"
        )


if __name__ == "__main__":
    main()
