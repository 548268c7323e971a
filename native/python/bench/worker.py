# SPDX-License-Identifier: Apache-2.0
"""One side of the comparison: drives a running pool through `mooncake.store` and prints a JSON line per case.

Run by compare.py in the interpreter of the side it measures; both sides run this very file.

    worker.py MASTER serve BYTES     contribute BYTES of memory until standard input ends
    worker.py MASTER measure ROUND   run every case once; the client contributes no memory
"""

import ctypes
import json
import mmap
import sys
import time

from mooncake.store import MooncakeDistributedStore

BATCH = 32
# name: (object bytes, batches); about 0.25 to 1 s each.
BULK = {"1MiB x32": (1 << 20, 16), "4KiB x32": (4096, 150)}
SINGLES = 2000


def connect(master, segment_bytes):
    store = MooncakeDistributedStore()
    code = store.setup("127.0.0.1", "P2PHANDSHAKE", segment_bytes, 64 << 20, "tcp", "", master)
    if code != 0:
        raise SystemExit(f"setup against {master} failed with {code}")
    return store


def emit(case, value, unit):
    print(json.dumps({"case": case, "value": value, "unit": unit}), flush=True)


def pattern(size, seed):
    return bytes((seed * 131 + i * 7) & 0xFF for i in range(251)) * (size // 251 + 1)


def expect(codes, wanted, what):
    wrong = [code for code in codes if code != wanted]
    if wrong:
        raise SystemExit(f"{what}: {len(wrong)} of {len(codes)} lines gave {wrong[:3]} instead of {wanted}")


def bulk(store, base, view, round_number):
    """Puts, then gets, batches of equal objects; the first batch is a warm-up and is not timed."""
    for name, (size, batches) in BULK.items():
        view[: size * BATCH] = pattern(size * BATCH, 3)[: size * BATCH]
        pointers, sizes = [base + i * size for i in range(BATCH)], [size] * BATCH
        keys = [[f"r{round_number}-{name}-{b}-{i}" for i in range(BATCH)] for b in range(batches + 1)]
        for verb, call, wanted in (("put", store.batch_put_from, 0), ("get", store.batch_get_into, size)):
            expect(call(keys[0], pointers, sizes), wanted, f"{verb} {name}")
            start = time.perf_counter()
            for batch in keys[1:]:
                expect(call(batch, pointers, sizes), wanted, f"{verb} {name}")
            seconds = time.perf_counter() - start
            objects = batches * BATCH
            if size >= 1 << 20:
                emit(f"{verb} {name}", objects * size / seconds / 1e9, "GB/s")
            else:
                emit(f"{verb} {name}", objects / seconds / 1e3, "k objects/s")
        if view[:64] != pattern(64, 3)[:64]:
            raise SystemExit(f"get {name} returned other bytes than were put")


def singles(store, base, round_number):
    """Latency of one 4 KiB get, and exists of one key and of 32."""
    key = f"r{round_number}-4KiB x32-1-0"
    keys = [f"r{round_number}-4KiB x32-1-{i}" for i in range(BATCH)]
    times = []
    for _ in range(SINGLES):
        start = time.perf_counter_ns()
        got = store.get_into(key, base, 4096)
        times.append(time.perf_counter_ns() - start)
        if got != 4096:
            raise SystemExit(f"get 4KiB alone gave {got}")
    times.sort()
    emit("get 4KiB alone p50", times[len(times) // 2] / 1e3, "us")
    emit("get 4KiB alone p99", times[len(times) * 99 // 100] / 1e3, "us")
    for name, batch in (("exists 1 key", [key]), ("exists 32 keys", keys)):
        start = time.perf_counter()
        for _ in range(SINGLES // 4):
            expect(store.batch_is_exist(batch), 1, name)
        emit(name, SINGLES // 4 * len(batch) / (time.perf_counter() - start) / 1e3, "k keys/s")


def main():
    master, mode, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if mode == "serve":
        store = connect(master, number)
        print("serving", flush=True)
        sys.stdin.read()
        store.close()
        return
    store = connect(master, 0)
    memory = mmap.mmap(-1, BATCH << 20)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    expect([store.register_buffer(base, len(memory))], 0, "register_buffer")
    bulk(store, base, memory, number)
    singles(store, base, number)
    store.close()


if __name__ == "__main__":
    main()
