#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kvcheck: uses a pool as an engine does, through mooncake.store, and checks what it gets byte for byte.

The content of an object follows from its key, size and seed, so a reader needs nothing from the writer. The last line
printed is the verdict; the exit status is 0 when everything is as it should be, 1 when not, 2 for wrong usage.

Environment, as the pool's client ConfigMap sets it: MOONCAKE_MASTER, MOONCAKE_TE_META_DATA_SERVER, MOONCAKE_PROTOCOL,
MOONCAKE_GLOBAL_SEGMENT_SIZE, MOONCAKE_LOCAL_BUFFER_SIZE; and MOONCAKE_LOCAL_HOSTNAME or POD_IP, by which this process is reached.
With --agent KVPOOL_SOCKET_DIR alone: where the agent's socket is.
"""

import argparse
import hashlib
import itertools
import logging
import os
import random
import signal
import socket
import sys
import threading
import time

from mooncake.store import MooncakeDistributedStore

BATCH = 32
AGENT_MEMORY_BYTES = 16 * 1024 * 1024
PROBLEMS_SHOWN = 5


def content(seed: int, key: str, size: int) -> bytes:
    return hashlib.shake_128(f"{seed}:{key}".encode()).digest(size)


def connect_to_agent() -> MooncakeDistributedStore:
    store = MooncakeDistributedStore()
    address = "unix:" + os.environ["KVPOOL_SOCKET_DIR"]
    code = store.setup_dummy(AGENT_MEMORY_BYTES, AGENT_MEMORY_BYTES, address)
    if code != 0:
        sys.exit(f"kvcheck: no agent at {address}: setup_dummy gave {code}")
    return store


def connect() -> MooncakeDistributedStore:
    store = MooncakeDistributedStore()
    hostname = os.environ.get("MOONCAKE_LOCAL_HOSTNAME") or os.environ.get("POD_IP") or socket.gethostname()
    masters = os.environ.get("MOONCAKE_MASTER", "127.0.0.1:50051")
    code = store.setup(
        {
            "local_hostname": hostname,
            "metadata_server": os.environ.get("MOONCAKE_TE_META_DATA_SERVER", "P2PHANDSHAKE"),
            "global_segment_size": os.environ.get("MOONCAKE_GLOBAL_SEGMENT_SIZE", "0"),
            "local_buffer_size": "64MB",
            "protocol": os.environ.get("MOONCAKE_PROTOCOL", "tcp"),
            "master_server_addr": masters,
        }
    )
    if code != 0:
        sys.exit(f"kvcheck: no connection to {masters}: setup gave {code}")
    return store


def keys_of(options: argparse.Namespace) -> list[str]:
    return [f"{options.prefix}/{number}" for number in range(options.count)]


def show(problems: list[str]) -> None:
    for problem in problems[:PROBLEMS_SHOWN]:
        print(problem)
    if len(problems) > PROBLEMS_SHOWN:
        print(f"... and {len(problems) - PROBLEMS_SHOWN} more")


def put(store: MooncakeDistributedStore, options: argparse.Namespace) -> int:
    problems = []
    for key in keys_of(options):
        code = store.put(key, content(options.seed, key, options.size))
        if code != 0:
            problems.append(f"put {key}: {code}")
    show(problems)
    print(f"put {options.count - len(problems)} of {options.count} objects")
    return 1 if problems else 0


def compare(key: str, found: bytes, wanted: bytes) -> str | None:
    """What is wrong with an object, or None."""
    if found == wanted:
        return None
    if not found:
        return f"get {key}: not there"
    at = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], zip(found, wanted, strict=False)))
    return f"get {key}: WRONG BYTES: {len(found)} bytes instead of {len(wanted)}, first difference at {at}"


def read_back(store: MooncakeDistributedStore, keys: list[str], options: argparse.Namespace) -> list[str]:
    """The problems found."""
    problems = []
    for begin in range(0, len(keys), BATCH):
        batch = keys[begin : begin + BATCH]
        for key, found in zip(batch, store.get_batch(batch), strict=True):
            problems.append(compare(key, found, content(options.seed, key, options.size)))
    return [problem for problem in problems if problem is not None]


def get(store: MooncakeDistributedStore, options: argparse.Namespace) -> int:
    problems = read_back(store, keys_of(options), options)
    show(problems)
    print(f"read back {options.count - len(problems)} of {options.count} objects")
    return 1 if problems else 0


def load(store: MooncakeDistributedStore, options: argparse.Namespace) -> int:
    """Puts one object after the other, reads something back at random, and in the end reads back all that was acknowledged.

    SIGTERM ends it early, after one more put that succeeded.
    """
    told_to_end = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: told_to_end.set())
    choice = random.Random(options.seed)
    acknowledged: list[str] = []
    failures, longest_gap = 0, 0.0
    misses, longest_blind = 0, 0.0
    start = last_success = last_sight = time.monotonic()
    wrong: list[str] = []
    for number in itertools.count():
        if time.monotonic() - start >= options.seconds:
            break
        last = told_to_end.is_set()
        key = f"{options.prefix}/{number}"
        if store.put(key, content(options.seed, key, options.size)) == 0:
            now = time.monotonic()
            longest_gap, last_success = max(longest_gap, now - last_success), now
            acknowledged.append(key)
        else:
            failures, last = failures + 1, False
            time.sleep(0.01)
        if acknowledged:
            # Not there is no problem yet: in the middle of a takeover an object may be out of reach.
            probe = read_back(store, [choice.choice(acknowledged)], options)
            wrong += [problem for problem in probe if "WRONG" in problem]
            now = time.monotonic()
            longest_blind = max(longest_blind, now - last_sight)
            misses, last_sight = (misses + 1, last_sight) if probe else (misses, now)
        if last:
            break
        time.sleep(options.pause)
    longest_gap = max(longest_gap, time.monotonic() - last_success)
    lost = read_back(store, acknowledged, options)
    show(wrong + lost)
    print(f"{failures} puts failed, longest time without a put that succeeded {longest_gap:.3f} s")
    print(f"{misses} reads in between gave nothing good, longest time without one that did {longest_blind:.3f} s")
    print(f"{len(wrong)} reads in between gave wrong bytes")
    print(f"read back {len(acknowledged) - len(lost)} of {len(acknowledged)} acknowledged objects")
    return 1 if wrong or lost or not acknowledged else 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="kvcheck", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("verb", choices=["put", "get", "load"])
    parser.add_argument("--prefix", default="kvcheck", help="keys are PREFIX/0, PREFIX/1, ...")
    parser.add_argument("--count", type=int, default=100, help="objects to put or get")
    parser.add_argument("--size", type=int, default=65536, help="bytes of each")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=10.0, help="how long load runs, unless it is told to end")
    parser.add_argument(
        "--pause", type=float, default=0.0, help="seconds load waits after each put: bounds what it fills"
    )
    parser.add_argument("--agent", action="store_true", help="go through the agent of this machine")
    options = parser.parse_args()
    if options.count < 1 or options.size < 1:
        parser.error("--count and --size must be 1 or more")
    return options


def main() -> int:
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s", level=logging.INFO)
    options = arguments()
    store = connect_to_agent() if options.agent else connect()
    try:
        return {"put": put, "get": get, "load": load}[options.verb](store, options)
    finally:
        store.close()


if __name__ == "__main__":
    sys.exit(main())
