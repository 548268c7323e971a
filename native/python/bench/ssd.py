# SPDX-License-Identifier: Apache-2.0
"""What the SSD tier of a pool does: one node with little memory and an SSD, values put, read from there, read again.

    ssd.py --kvpool dist/bin/kvpool [--directory DIR] [--value 1MiB] [--values 1024] [--batch 16]

The values are put one batch after the other, waiting while the SSD takes what has to leave memory, so that all of them
are kept; then all are read, most of them from the SSD; then some of those twice more, which brings them back to memory;
then those again. Run it in a Python that has the wheel `kvpool`; DIR must lie on the disk that is meant.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time

from local_pool import LocalPool

import kvpool

PATIENCE_SECONDS = 300
# Above it objects leave memory; at it or below, nothing does.
WATERMARK = 0.9


def node(pool):
    _, text = pool.ask("master-0", "/api/v1/pool")
    return json.loads(text)["nodes"][0]


def wait_until(reached, what):
    end = time.monotonic() + PATIENCE_SECONDS
    while not reached():
        if time.monotonic() > end:
            raise SystemExit(f"{what} takes more than {PATIENCE_SECONDS} s")
        time.sleep(0.005)


def has_room(pool):
    now = node(pool)
    return now["usedBytes"] <= WATERMARK * now["capacityBytes"]


def is_idle(pool):
    return has_room(pool) and node(pool)["ssd"]["arriving"] == 0


def counter(pool, name):
    _, text = pool.ask("master-0", "/metrics")
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def batches(numbers, size):
    return [numbers[at : at + size] for at in range(0, len(numbers), size)]


def read(client, numbers, batch, values):
    """MB/s over all, and the times of the batches; ends when one is wrong."""
    times = []
    for part in batches(numbers, batch):
        started = time.perf_counter()
        found = client.get_batch([f"value-{n}" for n in part], timeout=60)
        times.append(time.perf_counter() - started)
        for number, value in zip(part, found, strict=True):
            if value != values[number]:
                raise SystemExit(f"value-{number} is wrong: {value if not isinstance(value, bytes) else len(value)}")
    return sum(len(values[n]) for n in numbers) / sum(times) / 1e6, times


def tell(what, speed, times):
    print(f"| {what} | {speed:.0f} | {statistics.median(times) * 1e3:.1f} | {max(times) * 1e3:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvpool", required=True, help="dist/bin/kvpool")
    parser.add_argument("--directory", default=tempfile.gettempdir())
    parser.add_argument("--value", type=int, default=1 << 20, help="bytes of a value")
    parser.add_argument("--values", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    total = options.value * options.values
    values = [os.urandom(options.value) for _ in range(options.values)]
    numbers = list(range(options.values))
    flags = ["--ssd-size", str(2 * total), "--object-lease", "1s"]
    flags += ["--eviction-high-watermark", str(WATERMARK), "--eviction-low-watermark", "0.85"]
    with (
        tempfile.TemporaryDirectory(dir=options.directory) as directory,
        LocalPool(options.kvpool, 1, 1, str(total // 4), *flags, "--ssd-dir", directory) as pool,
        kvpool.Client(pool.masters) as client,
    ):
        print("| values | MB/s | median ms of a batch | longest |\n|---|---|---|---|")
        started = time.perf_counter()
        times = []
        for part in batches(numbers, options.batch):
            wait_until(lambda: has_room(pool), "room in memory")
            begun = time.perf_counter()
            client.put_batch([f"value-{n}" for n in part], [values[n] for n in part], timeout=60)
            times.append(time.perf_counter() - begun)
        wait_until(lambda: is_idle(pool), "writing to the SSD")
        tell(
            f"put, and {node(pool)['ssd']['objects']} written to the SSD",
            total / (time.perf_counter() - started) / 1e6,
            times,
        )
        onto = node(pool)["ssd"]["objects"] // 2
        cold = numbers[:onto]
        tell("get from the SSD", *read(client, cold, options.batch, values))
        few = cold[: onto // 8]
        read(client, few, options.batch, values)
        wait_until(lambda: counter(pool, "kvpool_master_promotions_total") >= len(few), "promotion")
        tell("get of what came back to memory", *read(client, few, options.batch, values))
        lost = counter(pool, "kvpool_master_evicted_total")
        print(f"{int(lost)} of {options.values} values were evicted")
    return 0


if __name__ == "__main__":
    sys.exit(main())
