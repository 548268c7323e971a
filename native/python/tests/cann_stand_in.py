# SPDX-License-Identifier: Apache-2.0
"""What stands for Huawei's CANN in tests: the libraries of native/test/ascend/fake, in FAKE_CANN_DIRECTORY."""

import os
from pathlib import Path

# The beginning of a program that has memory of an NPU. What follows makes `store`, `prefix` and `config` (None, or one of puts).
# round_trips() puts and gets it whole, in pieces and in sessions with parts, and compares it each time.
ROUND_TRIPS = """
import ctypes, os, random, sys
from mooncake.store import MooncakeDistributedStore
acl = ctypes.CDLL(os.environ["KVPOOL_ASCEND_LIBRARY_DIR"] + "/libascendcl.so", ctypes.RTLD_GLOBAL)
acl.aclrtMalloc.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
acl.aclrtMemcpy.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
size, third = 300_000, 100_000
value = random.Random(1).randbytes(size)

def npu():
    memory = ctypes.c_void_p()
    assert acl.aclrtMalloc(ctypes.byref(memory), size, 0) == 0
    return memory.value

def read(at):
    copy = ctypes.create_string_buffer(size)
    assert acl.aclrtMemcpy(copy, size, at, size, 2) == 0
    return copy.raw

def empty(at):
    assert acl.aclrtMemcpy(at, size, bytes(size), size, 1) == 0

assert acl.aclInit(None) == acl.aclrtSetDevice(0) == 0
here, there = npu(), npu()
assert acl.aclrtMemcpy(here, size, value, size, 1) == 0

def register(store):
    assert store.register_buffer(here, size) == store.register_buffer(there, size) == 0

def round_trips(name):
    one, many, whole = prefix + name, prefix + name + "/pieces", prefix + name + "/session"
    assert store.put_from(one, here, size, config) == 0
    assert store.get_into(one, there, size) == size and read(there) == value
    assert store.get(one) == value
    pieces = [here + third * i for i in (2, 0, 1)]
    assert store.batch_put_from_multi_buffers([many], [pieces], [[third] * 3], config) == [0]
    empty(there)
    pieces = [there + third * i for i in (2, 0, 1)]
    assert store.batch_get_into_multi_buffers([many], [pieces], [[third] * 3]) == [size] and read(there) == value
    empty(there)
    assert store.get_into_ranges([there], [[one]], [[[0, 7]]], [[[5, 1000]]], [[[2, 900]]]) == [[[2, 900]]]
    assert read(there)[:907] == value[5:7] + bytes(5) + value[1000:1900]
    assert store.batch_put_session_start([whole], [size], config) == [0]
    for i in (1, 2, 0):
        row = [whole], [[here + third * i]], [[third]], [[third * i]]
        assert store.batch_put_from_multi_buffer_ranges(*row) == [third]
    assert store.batch_put_session_end([whole]) == [0]
    empty(there)
    assert store.batch_get_session_start([whole]) == [0]
    row = [whole], [[there + 10, there + third]], [[third - 10, 2 * third]], [[10, third]]
    assert store.batch_get_into_multi_buffer_ranges(*row) == [size - 10]
    assert store.batch_get_session_end([whole]) == 0
    assert read(there) == bytes(10) + value[10:]
"""


def variables(ledger: Path | None = None) -> dict[str, str]:
    """Of a process with CANN, in which remote memory of hosts can be reached.

    The ledger is a file to which each call of CANN appends a line: PID TID FUNCTION STATUS TEXT.
    """
    written = {} if ledger is None else {"FAKE_ASCEND_LEDGER": str(ledger)}
    folder = os.environ["FAKE_CANN_DIRECTORY"] + "/cann"
    return {"KVPOOL_ASCEND_LIBRARY_DIR": folder, "HCCL_INTRA_ROCE_ENABLE": "1", **written}
