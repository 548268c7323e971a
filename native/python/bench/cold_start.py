# SPDX-License-Identifier: Apache-2.0
"""All masters of a pool die, or a storage node: how long until every object can be read again.

    cold_start.py --kvpool dist/bin/kvpool [--objects 1000000] [--samples 2000] [--victims masters|node]

Fills two storage nodes with tiny objects and kills with SIGKILL every master at once, or one storage node, which holds
half of the objects. Both come back by themselves. Prints the time from the kill until an object can be read and until
all of a sample can, and what a new leader says about its takeover.
Each object takes 4 KiB of /dev/shm: a million needs about 5 GiB. Run it in a Python that has the wheel `kvpool`.
"""

import argparse
import random
import sys
import time

from local_pool import LocalPool

import kvpool

BATCH = 1000
SLOT_BYTES = 4096
FILL_FRACTION = 0.85
WAIT_SECONDS = 60
# Between two looks at what cannot be read yet: asking without a pause takes the processors that are to bring it back.
LOOK_SECONDS = 0.02


def value_of(number):
    return f"value of object {number}".encode()


def fill(client, objects):
    started = time.perf_counter()
    for first in range(0, objects, BATCH):
        numbers = range(first, min(first + BATCH, objects))
        client.put_batch([f"object-{n}" for n in numbers], [value_of(n) for n in numbers], timeout=120)
    return time.perf_counter() - started


def until_read(client, sample, since):
    """Seconds from `since` until an object could be read, and until all could; stops when one is wrong."""
    first, missing = 0.0, list(sample)
    while missing:
        if time.perf_counter() - since > WAIT_SECONDS:
            raise SystemExit(f"{len(missing)} of {len(sample)} samples cannot be read after {WAIT_SECONDS} s")
        unread = []
        for at in range(0, len(missing), BATCH):
            numbers = missing[at : at + BATCH]
            found = client.get_batch([f"object-{n}" for n in numbers], timeout=WAIT_SECONDS)
            for number, value in zip(numbers, found, strict=True):
                if not isinstance(value, bytes):
                    unread.append(number)
                elif value != value_of(number):
                    raise SystemExit(f"object-{number} is wrong: {value!r}")
        first = first or (time.perf_counter() - since if len(unread) < len(missing) else 0.0)
        missing = unread
        if missing:
            time.sleep(LOOK_SECONDS)
    return first, time.perf_counter() - since


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvpool", required=True, help="dist/bin/kvpool")
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--samples", type=int, default=2_000)
    parser.add_argument("--victims", choices=["masters", "node"], default="masters")
    options = parser.parse_args()
    sample = random.Random(1).sample(range(options.objects), min(options.samples, options.objects))
    segment = int(options.objects / 2 * SLOT_BYTES / FILL_FRACTION)
    with LocalPool(options.kvpool, 2, 2, str(segment), "--master-heap", "2GiB") as pool:
        # By shared memory what a dead node holds can still be read.
        with kvpool.Client(pool.masters, protocols=["tcp"]) as client:
            seconds = fill(client, options.objects)
            print(f"{options.objects} objects put in {seconds:.0f} s", flush=True)
            pool.wait_whole()
            since = time.perf_counter()
            victims = "master" if options.victims == "masters" else "node-0"
            pool.kill(*(name for name in pool.pids if name.startswith(victims)))
            first, last = until_read(client, sample, since)
        leader = pool.wait_whole()
        _, metrics = pool.ask(leader, "/metrics")
    print(f"first object read {first:.2f} s after the kill, all {len(sample)} samples right after {last:.2f} s")
    if options.victims == "masters":
        print("\n".join(line for line in metrics.splitlines() if line.startswith("kvpool_master_takeover")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
