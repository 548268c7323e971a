# SPDX-License-Identifier: Apache-2.0
"""A process with a transfer engine and one registered region: peer.py SIZE [NAME [METADATA_SERVER [PROTOCOL [LOCATION]]]]

Prints "PORT ADDRESS", then obeys lines on stdin: `sum` (CRC-32 of the region), `byte OFFSET`,
`notifies`, `fill BYTE`, `scramble SEED`, `unregister`,
`register`, `write TARGET ADDRESS` (the region to there), `pieces write|read TARGET ADDRESS COUNT` (the region in that many
pieces, in another order), `begin write|read TARGET ADDRESS` (prints a batch), `status BATCH`, `stats NAME`, `transports`;
each answer is one line. Ends by itself at the end of stdin.

With a LOCATION "npu:N" the region is an NPU's, as CANN gives it. With PEER_WAITS in the environment it prints "waiting"
and begins once it has read a line.
"""

import ctypes
import mmap
import os
import random
import sys
import zlib

from mooncake.engine import TransferEngine


def main() -> None:
    size, *rest = sys.argv[1:]
    name, metadata_server, protocol, location = [*rest, *["127.0.0.1", "P2PHANDSHAKE", "tcp", "*"][len(rest) :]]
    if "PEER_WAITS" in os.environ:
        print("waiting", flush=True)
        sys.stdin.readline()
    memory = memory_of(int(size), protocol, location)
    address = ctypes.addressof(memory)
    engine = TransferEngine()
    assert engine.initialize(name, metadata_server, protocol, "") == 0
    assert engine.register_memory(address, len(memory), location) == 0
    print(engine.get_rpc_port(), address, flush=True)
    for line in sys.stdin:
        print(answer(line.split(), engine, memory), flush=True)


def memory_of(size: int, protocol: str, location: str) -> ctypes.Array:
    if protocol == "tcp":
        return (ctypes.c_char * size)()
    return of_device(size) if location.startswith("npu") else of_host(size)


def of_host(size: int) -> ctypes.Array:
    """Where CANN can register it, and at the same address in each life of a peer."""
    place, flags = 1 << 44, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long)
    got = libc.mmap(place, size, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    assert got == place
    return (ctypes.c_char * size).from_address(got)


def of_device(size: int) -> ctypes.Array:
    """Of the first NPU, whose context is current then. The fake's can be read like any other memory."""
    acl = ctypes.CDLL(os.environ["KVPOOL_ASCEND_LIBRARY_DIR"] + "/libascendcl.so", ctypes.RTLD_GLOBAL)
    acl.aclrtMalloc.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    memory = ctypes.c_void_p()
    assert acl.aclInit(None) == acl.aclrtSetDevice(0) == acl.aclrtMalloc(ctypes.byref(memory), size, 0) == 0
    return (ctypes.c_char * size).from_address(memory.value)


def pieces(engine: TransferEngine, how: str, target: str, here: int, there: int, size: int, count: int) -> int:
    step = size // count
    order = [at * step for at in range(count)]
    random.Random(count).shuffle(order)
    move = engine.batch_transfer_sync_write if how == "write" else engine.batch_transfer_sync_read
    return move(target, [here + at for at in order], [there + at for at in order], [step] * count)


def begin(engine: TransferEngine, how: str, target: str, here: int, there: int, size: int) -> int:
    move = engine.batch_transfer_async_write if how == "write" else engine.batch_transfer_async_read
    return move(target, [here], [there], [size])


def answer(command: list[str], engine: TransferEngine, memory: ctypes.Array) -> object:
    address, size = ctypes.addressof(memory), len(memory)
    match command:
        case ["sum"]:
            return zlib.crc32(memory)
        case ["fill", byte]:
            ctypes.memset(memory, int(byte), size)
        case ["scramble", seed]:
            ctypes.memmove(address, random.Random(int(seed)).randbytes(size), size)
        case ["byte", offset]:
            return memory[int(offset)][0]
        case ["notifies"]:
            told = []
            while (notify := engine.get_engine().engine.next_notify()) is not None:
                told.append(notify)
            return told
        case ["unregister"]:
            return engine.unregister_memory(address)
        case ["register"]:
            return engine.register_memory(address, size)
        case ["write", target, remote]:
            return engine.transfer_sync_write(target, address, int(remote), size)
        case ["pieces", how, target, remote, count]:
            return pieces(engine, how, target, address, int(remote), size, int(count))
        case ["begin", how, target, remote]:
            return begin(engine, how, target, address, int(remote), size)
        case ["status", batch]:
            return engine.transfer_check_status(int(batch))
        case ["stats", of]:
            return engine.get_engine().engine.stats()[of]
        case ["transports"]:
            return engine.get_engine().engine.transports()
    return "ok"


if __name__ == "__main__":
    main()
