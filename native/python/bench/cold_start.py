# SPDX-License-Identifier: Apache-2.0
"""All masters of a pool die, its storage nodes live on: how long until a new master has rebuilt the index and serves.

    cold_start.py --kvpool dist/bin/kvpool [--objects 1000000] [--samples 2000]

Fills two storage nodes with tiny objects, kills every master with SIGKILL at once, and waits for them to come back. Prints the
time from the kill until an object can be read, what the new leader says about its takeover, and how many of a sample are right.
Each object takes 4 KiB of /dev/shm: a million needs about 5 GiB. Run it in a Python that has the wheel `kvpool`.
"""

import argparse
import random
import sys
import time

import kvpool
from local_pool import LocalPool

BATCH = 1000
SLOT_BYTES = 4096
FILL_FRACTION = 0.85


def value_of(number):
    return f"value of object {number}".encode()


def fill(client, objects):
    started = time.perf_counter()
    for first in range(0, objects, BATCH):
        numbers = range(first, min(first + BATCH, objects))
        client.put_batch([f"object-{n}" for n in numbers], [value_of(n) for n in numbers], timeout=120)
    return time.perf_counter() - started


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvpool", required=True, help="dist/bin/kvpool")
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--samples", type=int, default=2_000)
    options = parser.parse_args()
    segment = int(options.objects / 2 * SLOT_BYTES / FILL_FRACTION)
    with LocalPool(options.kvpool, 2, 2, str(segment), "--master-heap", "2GiB") as pool:
        with kvpool.Client(pool.masters) as client:
            seconds = fill(client, options.objects)
            print(f"{options.objects} objects put in {seconds:.0f} s", flush=True)
            pool.wait_whole()
            since = time.perf_counter()
            pool.kill(*(name for name in pool.pids if name.startswith("master")))
            first = client.get("object-0", timeout=60)
            recovered = time.perf_counter() - since
            sample = random.Random(1).sample(range(options.objects), min(options.samples, options.objects))
            right = sum(client.get(f"object-{n}", timeout=60) == value_of(n) for n in sample)
        leader = pool.wait_whole()
        _, metrics = pool.ask(leader, "/metrics")
        takeover = [line for line in metrics.splitlines() if line.startswith("kvpool_master_takeover")]
    print(f"first get {recovered * 1000:.0f} ms after the kill; {right} of {len(sample)} samples right")
    print("\n".join(takeover))
    return 0 if right == len(sample) and first == value_of(0) else 1


if __name__ == "__main__":
    sys.exit(main())
