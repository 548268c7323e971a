# SPDX-License-Identifier: Apache-2.0
"""Kills or stops masters of a running pool and measures how long it takes until a put works again; reads everything back.

    failover.py --kvpool dist/bin/kvpool [--rounds 20] [--cases idle,silent,loaded,again,all] [--tls] [--json FILE]

idle    the leader dies in a quiet pool, by SIGKILL as in all cases but the next
silent  the leader is stopped by SIGSTOP in a quiet pool, and goes on when everything was read
loaded  the leader dies in a pool at its watermark while two clients write without a pause; the next one dies when the leases
        of what it found have ended, so that it has its reserve again
again   the same, but the next one dies as soon as the other master stands by: reserves are never filled up again
all     every master dies; the storage nodes live on; the next time only when what restarts them has forgotten that they died,
        for it starts later, and at last not at all, what dies young again and again

Each round: the pool is whole, the process dies or stops, and one client puts a new object at once. The time counts from the
signal to the return of that put. Then all 400 objects are read and compared. Run it in a Python that has the wheel `kvpool`.
Wants about 1 GiB of /dev/shm. Exits with 1 when an object was lost or wrong.
"""

import argparse
import hashlib
import json
import signal
import statistics
import sys
import threading
import time

from local_pool import LocalPool

import kvpool

OBJECTS = 400
OBJECT_BYTES = 64 << 10
PUT_SECONDS = 30
FIRST_PUT_SECONDS = 180  # two JVMs may have to start first, on a machine that may be busy
WRITERS = 2
WRITTEN_BYTES = 32 << 10
GROWN_UP_SECONDS = 22  # above the 20 s that `kvpool local --restart` takes for a short life


def value_of(key, size=OBJECT_BYTES):
    """The only right bytes of a key."""
    seed = hashlib.sha256(key.encode()).digest()
    return (seed * (size // len(seed) + 1))[:size]


def client_of(pool):
    return kvpool.Client(pool.masters, tls_dir=pool.tls_directory and str(pool.tls_directory))


class Objects:
    """The objects that must survive, and what became of them."""

    def __init__(self, client):
        self.client = client
        self.keys = [f"kept-{i}" for i in range(OBJECTS)]
        for key in self.keys:
            client.put(key, value_of(key), timeout=PUT_SECONDS)
        self.wrong = 0

    def right(self):
        """How many can be read and are right."""
        count = 0
        for key in self.keys:
            try:
                found = self.client.get(key, timeout=PUT_SECONDS)
            except kvpool.KvpoolError as failure:
                print(f"  {key}: {failure}", file=sys.stderr)
                continue
            count += found == value_of(key)
            self.wrong += found is not None and found != value_of(key)
        return count


class Load:
    """Clients that write new objects without a pause, and one that reads the kept ones so that they stay in use."""

    def __init__(self, pool, objects):
        self._stop = threading.Event()
        self.puts, self.full, self.failed = 0, 0, []
        self._threads = [threading.Thread(target=self._write, args=(pool, i)) for i in range(WRITERS)]
        self._threads.append(threading.Thread(target=self._read, args=(pool, objects.keys)))
        for thread in self._threads:
            thread.start()

    def _write(self, pool, number):
        with client_of(pool) as client:
            count = 0
            while not self._stop.is_set():
                key = f"load-{number}-{count}"
                count += 1
                try:
                    client.put(key, value_of(key, WRITTEN_BYTES), timeout=PUT_SECONDS)
                    self.puts += 1
                except kvpool.NoSpaceError:
                    self.full += 1
                except kvpool.KvpoolError as failure:
                    self.failed.append(str(failure))

    def _read(self, pool, keys):
        with client_of(pool) as client:
            while not self._stop.is_set():
                for key in keys:
                    client.exists(key, timeout=PUT_SECONDS)
                time.sleep(1)

    def end(self):
        self._stop.set()
        for thread in self._threads:
            thread.join()


def until_a_put_works(client, key, since):
    client.put(key, value_of(key), timeout=FIRST_PUT_SECONDS)
    return time.perf_counter() - since


def fill(client, pool):
    """Up to the watermark: until the leader has begun to evict."""
    count = 0
    while evicted(pool) == 0:
        for _ in range(50):
            key = f"filler-{count}"
            count += 1
            try:
                client.put(key, value_of(key), timeout=PUT_SECONDS)
            except kvpool.NoSpaceError:
                return


def metric(pool, name):
    """A number of the leader's."""
    _, metrics = pool.ask(pool.leader() or "master-0", "/metrics")
    line = next(line for line in metrics.splitlines() if line.startswith(name))
    return float(line.split()[-1])


def evicted(pool):
    return metric(pool, "kvpool_master_evicted_total")


def wait_for_reserve(pool):
    """Until what the last takeover found may be evicted, and some of it was."""
    while metric(pool, "kvpool_master_lease_recovery_seconds") > 0:
        time.sleep(0.1)
    before = evicted(pool)
    while evicted(pool) == before:
        time.sleep(0.1)


def rounds_of(case, pool, rounds):
    """Runs a case; answers its times in seconds, and how many objects were right in the worst round and were ever wrong."""
    with client_of(pool) as client:
        loaded = case in ("loaded", "again")
        if loaded:
            fill(client, pool)  # first, or what is to be kept would be the oldest and go
        objects = Objects(client)
        load = Load(pool, objects) if loaded else None
        seconds, worst = [], OBJECTS
        for number in range(rounds):
            leader = pool.wait_whole()
            time.sleep(GROWN_UP_SECONDS if case == "all" else 0.2)
            if case == "loaded":
                wait_for_reserve(pool)
            started = time.perf_counter()
            if case == "silent":
                pool.signal(leader, signal.SIGSTOP)
            else:
                pool.kill(*([name for name in pool.pids if name.startswith("master")] if case == "all" else [leader]))
            seconds.append(until_a_put_works(client, f"{case}-first-{number}", started))
            right = objects.right()
            worst = min(worst, right)
            if case == "silent":
                pool.signal(leader, signal.SIGCONT)
            print(
                f"{case:7} round {number + 1:2}: put after {seconds[-1] * 1000:6.0f} ms, {right} of {OBJECTS} right",
                flush=True,
            )
        if load:
            load.end()
            print(
                f"{case:7} load: {load.puts} puts, {load.full} found no room, {len(load.failed)} failed {load.failed[:3]}"
            )
        return seconds, worst, objects.wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kvpool", required=True, help="dist/bin/kvpool")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--cases", default="idle,loaded,all")
    parser.add_argument("--masters", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--tls", action="store_true", help="the pool requires TLS")
    parser.add_argument("--json", help="also write the results to this file")
    options = parser.parse_args()
    results = {}
    for case in options.cases.split(","):
        segment = "64MiB" if case in ("loaded", "again") else "256MiB"
        with LocalPool(options.kvpool, options.masters, options.nodes, segment, tls=options.tls) as pool:
            seconds, worst, wrong = rounds_of(case, pool, options.rounds)
        results[case] = {
            "rounds": len(seconds),
            "median_ms": round(statistics.median(seconds) * 1000),
            "max_ms": round(max(seconds) * 1000),
            "right_in_worst_round": worst,
            "wrong": wrong,
        }
    for case, result in results.items():
        print(f"{case:7} {result}")
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=2)
    return 0 if all(r["right_in_worst_round"] == OBJECTS and r["wrong"] == 0 for r in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
