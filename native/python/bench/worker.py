# SPDX-License-Identifier: Apache-2.0
"""One side of the comparison: drives a running pool through `mooncake.store` and prints a JSON line per case.

Run by compare.py in the interpreter of the side it measures; both sides run this very file.

    worker.py MASTER serve BYTES            contribute BYTES of memory until standard input ends
    worker.py MASTER measure ROUND PIDS     run every case once; the client contributes no memory. PIDS (comma-separated)
                                            serve the pool: their processor time counts beside this process's own
    worker.py MASTER tensors ROUND          the cases about tensors, in an environment in which torch is found
    worker.py MASTER begin START            the first small batches of a pool that has just started, then as many again as
                                            it takes until both sides' programs are warm
    worker.py MASTER scale BYTES NAME SIZE BATCH
                                            one of several clients: on "put" in its input puts at most BYTES in objects
                                            of SIZE, BATCH in a call, keys beginning with NAME; on "get" gets them
"""

import ctypes
import json
import mmap
import statistics
import sys
import time

from mooncake.store import MooncakeDistributedStore

BATCH = 32
LARGE, SMALL = 1 << 20, 4096
BULK_BATCHES = 16
# Small batches are put for so long; what was put is read once. Both sides get the same time, however much they do in it.
SMALL_SECONDS = 0.25
SMALL_BATCHES_MAX = 2000
# Of a pool that has just started so many are timed, and then so many pass before anything else is.
NEW_BATCHES, WARM_BATCHES = 150, 1500
# Many small pieces per key, as engines move the layers of a block: (pieces of a key, bytes of a piece, batches).
PIECES = (64, 4096, 10)
# Layers of the blocks of one request, read one after the other: (layers, bytes of a layer of a block, requests).
LAYERS = (32, 32 << 10, 4)
# Parts of each value of a call: (parts, bytes of a part, calls).
PARTS = (4, 4096, 50)
# Tensors of float32: (elements of each dimension, that is 1 MiB; calls with one tensor; calls with a batch).
TENSORS = ((512, 512), 32, 4)
SINGLES = 2000
EXISTS = 500
SCALE_SECONDS = 1


def connect(master, segment_bytes):
    store = MooncakeDistributedStore()
    code = store.setup("127.0.0.1", "P2PHANDSHAKE", segment_bytes, 64 << 20, "tcp", "", master)
    if code != 0:
        raise SystemExit(f"setup against {master} failed with {code}")
    return store


def emit(case, value, unit):
    print(json.dumps({"case": case, "value": value, "unit": unit}), flush=True)


def pattern(size, seed):
    return (bytes((seed * 131 + i * 7) & 0xFF for i in range(251)) * (size // 251 + 1))[:size]


def expect(codes, wanted, what):
    wrong = [code for code in codes if code != wanted]
    if wrong:
        raise SystemExit(f"{what}: {len(wrong)} of {len(codes)} lines gave {wrong[:3]} instead of {wanted}")


class Processors:
    """Processor seconds that this process and the pool's spend."""

    def __init__(self, servers):
        self._servers = servers
        self._start = self._now()

    def _now(self):
        # The clock of another process, as clock_getcpuclockid() names it: threads that have ended are in it.
        return sum(time.clock_gettime((~pid << 3) | 2) for pid in self._servers) + time.process_time()

    def seconds(self):
        return self._now() - self._start


def bulk(store, base, view, round_number, servers):
    """Puts, then gets, batches of large objects; the first batch is a warm-up and is not timed."""
    name, size, objects = "1MiB x32", LARGE, BULK_BATCHES * BATCH
    view[: size * BATCH] = pattern(size * BATCH, 3)
    pointers, sizes = [base + i * size for i in range(BATCH)], [size] * BATCH
    keys = [[f"r{round_number}-{name}-{b}-{i}" for i in range(BATCH)] for b in range(BULK_BATCHES + 1)]
    for verb, call, wanted in (("put", store.batch_put_from, 0), ("get", store.batch_get_into, size)):
        expect(call(keys[0], pointers, sizes), wanted, f"{verb} {name}")
        processors, start = Processors(servers), time.perf_counter()
        for batch in keys[1:]:
            expect(call(batch, pointers, sizes), wanted, f"{verb} {name}")
        seconds = time.perf_counter() - start
        emit(f"{verb} {name}", objects * size / seconds / 1e9, "GB/s")
        emit(f"{verb} {name} CPU", processors.seconds() / (objects * size / 1e9), "CPU s/GB")
        if verb == "put":
            view[: size * BATCH] = bytes(size * BATCH)
    if view[: size * BATCH] != pattern(size * BATCH, 3):
        raise SystemExit(f"get {name} returned other bytes than were put")


def small_batches(store, base, view, name, batches, seconds=None):
    """Objects per second of puts, and of gets of the same: of all batches, or of as many as can be put in this time."""
    total = SMALL * BATCH
    view[:total] = pattern(total, 3)
    pointers, sizes = [base + i * SMALL for i in range(BATCH)], [SMALL] * BATCH
    keys = [[f"{name}-{b}-{i}" for i in range(BATCH)] for b in range(batches)]
    speeds = []
    for verb, call, wanted in (("put", store.batch_put_from, 0), ("get", store.batch_get_into, SMALL)):
        done, start = 0, time.perf_counter()
        for batch in keys:
            expect(call(batch, pointers, sizes), wanted, f"{verb} 4KiB x32")
            done += 1
            if verb == "put" and seconds and time.perf_counter() - start >= seconds:
                break
        speeds.append(done * BATCH / (time.perf_counter() - start))
        keys = keys[:done]
        if verb == "put":
            view[:total] = bytes(total)
    if view[:total] != pattern(total, 3):
        raise SystemExit("get 4KiB x32 returned other bytes than were put")
    return speeds


def small(store, base, view, round_number):
    put, get = small_batches(store, base, view, f"r{round_number}-4KiB", SMALL_BATCHES_MAX, SMALL_SECONDS)
    emit("put 4KiB x32", put / 1e3, "k objects/s")
    emit("get 4KiB x32", get / 1e3, "k objects/s")


def begin(store, base, view, start):
    """What whoever measures at once finds, and what makes that better."""
    put, get = small_batches(store, base, view, f"new{start}", NEW_BATCHES)
    emit("put 4KiB x32, new", put / 1e3, "k objects/s")
    emit("get 4KiB x32, new", get / 1e3, "k objects/s")
    small_batches(store, base, view, f"warm{start}", WARM_BATCHES)


def pieces(store, base, view, round_number):
    """The same bytes, but each key's value lies in many small pieces of memory."""
    count, size, batches = PIECES
    total = BATCH * count * size
    view[:total] = pattern(total, 5)
    # Pieces of one key lie apart, as layers do.
    pointers = [[base + (piece * BATCH + key) * size for piece in range(count)] for key in range(BATCH)]
    sizes = [[size] * count for _ in range(BATCH)]
    keys = [[f"r{round_number}-pieces-{b}-{i}" for i in range(BATCH)] for b in range(batches + 1)]
    work = (("put", store.batch_put_from_multi_buffers, 0), ("get", store.batch_get_into_multi_buffers, count * size))
    for verb, call, wanted in work:
        expect(call(keys[0], pointers, sizes), wanted, f"{verb} pieces")
        start = time.perf_counter()
        for batch in keys[1:]:
            expect(call(batch, pointers, sizes), wanted, f"{verb} pieces")
        emit(f"{verb} 64x4KiB x32", batches * total / (time.perf_counter() - start) / 1e9, "GB/s")
        if verb == "put":
            view[:total] = bytes(total)
    if view[:total] != pattern(total, 5):
        raise SystemExit("get of many pieces returned other bytes than were put")


def parts(store, base, view, round_number):
    """Parts of values: a request that reads its blocks layer by layer, in sessions, and a call for a few parts of each."""
    count, size, requests = LAYERS
    block = count * size
    view[:] = content = pattern(block * BATCH, 11)
    keys = [[f"r{round_number}-parts-{request}-{i}" for i in range(BATCH)] for request in range(requests + 1)]
    for of_request in keys:
        pointers, sizes = [base + i * block for i in range(BATCH)], [block] * BATCH
        expect(store.batch_put_from(of_request, pointers, sizes), 0, "put of blocks")
    view[:] = bytes(len(content))
    pointers, sizes = [[base + i * size] for i in range(BATCH)], [[size]] * BATCH
    first, whole = [], []
    for of_request in keys:  # the first is a warm-up
        start = time.perf_counter()
        expect(store.batch_get_session_start(of_request), 0, "start of sessions")
        for layer in range(count):
            offsets = [[layer * size]] * BATCH
            expect(store.batch_get_into_multi_buffer_ranges(of_request, pointers, sizes, offsets), size, "layer")
            if layer == 0:
                first.append(time.perf_counter() - start)
        whole.append(time.perf_counter() - start)
        expect([store.batch_get_session_end(of_request)], 0, "end of sessions")
    if view[: size * BATCH] != b"".join(content[(i + 1) * block - size : (i + 1) * block] for i in range(BATCH)):
        raise SystemExit("sessions returned other bytes than were put")
    emit("session, first layer", sum(first[1:]) / requests * 1e6, "us")
    emit("session, 32x32KiB x32", requests * block * BATCH / sum(whole[1:]) / 1e9, "GB/s")

    number, size, calls = PARTS
    sources = [[[part * block // number for part in range(number)] for _ in range(BATCH)]]
    targets = [[[(i * number + part) * size for part in range(number)] for i in range(BATCH)]]
    wanted = [[[size] * number for _ in range(BATCH)]]
    start = time.perf_counter()
    for _ in range(calls):
        expect(store.get_into_ranges([base], keys[:1], targets, sources, wanted), wanted[0], "ranges")
    emit("ranges 4x4KiB x32", calls * BATCH * number / (time.perf_counter() - start) / 1e3, "k parts/s")


def tensors(store, round_number):
    """Tensors as values: a call for each, and for a batch. The first call of each kind is a warm-up and is not timed."""
    import torch

    shape, singles_count, batches = TENSORS
    size = shape[0] * shape[1] * 4
    given = [torch.arange(i, i + shape[0] * shape[1], dtype=torch.float32).reshape(shape) for i in range(BATCH)]
    one = given[0]

    def check(got, wanted, what):
        if len(got) != len(wanted) or not all(map(torch.equal, got, wanted)):
            raise SystemExit(f"{what} returned another tensor than was put")

    keys = [f"r{round_number}-tensor-{i}" for i in range(singles_count + 1)]
    for verb, call in (("put", lambda key: store.put_tensor(key, one)), ("get", store.get_tensor)):
        times = []
        for key in keys:
            start = time.perf_counter()
            got = call(key)
            times.append(time.perf_counter() - start)
            if verb == "put":
                expect([got], 0, "put_tensor")
            else:
                check([got], [one], "get_tensor")
        emit(f"{verb} tensor 1MiB", statistics.median(times[1:]) * 1e6, "us")

    batch_keys = [[f"r{round_number}-tensors-{b}-{i}" for i in range(BATCH)] for b in range(batches + 1)]
    for verb, call in (("put", lambda keys: store.batch_put_tensor(keys, given)), ("get", store.batch_get_tensor)):
        seconds = 0.0
        for number, batch in enumerate(batch_keys):
            start = time.perf_counter()
            got = call(batch)
            seconds += time.perf_counter() - start if number else 0
            if verb == "put":
                expect(got, 0, "batch_put_tensor")
            else:
                check(got, given, "batch_get_tensor")
        emit(f"{verb} tensors 1MiB x32", batches * BATCH * size / seconds / 1e9, "GB/s")


def latencies(store, base, name, keys):
    """Microseconds of gets of 4 KiB, one after the other."""
    times = []
    for key in keys:
        start = time.perf_counter_ns()
        got = store.get_into(key, base, SMALL)
        times.append(time.perf_counter_ns() - start)
        if got != SMALL:
            raise SystemExit(f"get 4KiB {name} gave {got}")
    times.sort()
    emit(f"get 4KiB {name} p50", times[len(times) // 2] / 1e3, "us")
    emit(f"get 4KiB {name} p99", times[len(times) * 99 // 100] / 1e3, "us")


def singles(store, base, round_number):
    """Latency of one 4 KiB get, of keys this client has not read before and of one that it has; exists of 1 and 32 keys."""
    unread = [f"r{round_number}-unread-{i}" for i in range(SINGLES)]
    for at in range(0, SINGLES, BATCH):
        batch = unread[at : at + BATCH]
        expect(store.batch_put_from(batch, [base] * len(batch), [SMALL] * len(batch)), 0, "put of unread keys")
    latencies(store, base, "first", unread)
    latencies(store, base, "again", [unread[0]] * SINGLES)
    for name, batch in (("exists 1 key", unread[:1]), ("exists 32 keys", unread[:BATCH])):
        start = time.perf_counter()
        for _ in range(EXISTS):
            expect(store.batch_is_exist(batch), 1, name)
        emit(name, EXISTS * len(batch) / (time.perf_counter() - start) / 1e3, "k keys/s")


def timed(verb, call, batches, wanted):
    """The calls' objects, and when the first began and the last ended, on a clock that all processes share."""
    done, start = 0, time.monotonic()
    for batch in batches:
        expect(call(batch), wanted, verb)
        done += len(batch)
        if time.monotonic() - start > SCALE_SECONDS:
            break
    print(json.dumps({"objects": done, "start": start, "end": time.monotonic()}), flush=True)
    return done


def scale(master, total, name, size, batch):
    """Puts when told, so that all clients begin at once, and gets each object once."""
    store = connect(master, 0)
    memory = mmap.mmap(-1, size * batch)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    expect([store.register_buffer(base, len(memory))], 0, "register_buffer")
    memory[:] = content = pattern(size * batch, 9)
    pointers, sizes = [base + i * size for i in range(batch)], [size] * batch
    keys = [[f"{name}-{b}-{i}" for i in range(batch)] for b in range(max(2, total // (size * batch)))]
    put = lambda some: store.batch_put_from(some, pointers, sizes)  # noqa: E731
    get = lambda some: store.batch_get_into(some, pointers, sizes)  # noqa: E731
    expect(put([f"{name}-warm-{i}" for i in range(batch)]), 0, "put")
    print("ready", flush=True)
    for told in sys.stdin:
        if told == "put\n":
            there = timed("put", put, keys, 0) // batch
            memory[:] = bytes(len(content))
        else:
            timed("get", get, keys[:there], size)
            if memory[:] != content:
                raise SystemExit("get returned other bytes than were put")
    store.close()


def main():
    master, mode, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if mode == "scale":
        return scale(master, number, sys.argv[4], int(sys.argv[5]), int(sys.argv[6]))
    if mode == "serve":
        store = connect(master, number)
        print("serving", flush=True)
        sys.stdin.read()
        return store.close()
    store = connect(master, 0)
    if mode == "tensors":
        tensors(store, number)
        return store.close()
    memory = mmap.mmap(-1, BATCH << 20)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    expect([store.register_buffer(base, len(memory))], 0, "register_buffer")
    if mode == "begin":
        begin(store, base, memory, number)
        return store.close()
    servers = [int(pid) for pid in sys.argv[4].split(",")]
    small(store, base, memory, number)
    bulk(store, base, memory, number, servers)
    if hasattr(store, "batch_put_from_multi_buffers"):
        pieces(store, base, memory, number)
        parts(store, base, memory, number)
    singles(store, base, number)
    store.close()


if __name__ == "__main__":
    main()
