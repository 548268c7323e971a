# SPDX-License-Identifier: Apache-2.0
"""A process with a transfer engine and one registered region: peer.py SIZE [NAME [METADATA_SERVER]]

Prints "PORT ADDRESS", then obeys lines on stdin: `sum` (CRC-32 of the region), `byte OFFSET`,
`notifies`, `fill BYTE`, `unregister`,
`register`, `write TARGET ADDRESS` (the region to there); each answer is one line. Ends by itself at the end of stdin.
"""

import ctypes
import sys
import zlib

from mooncake.engine import TransferEngine


def main() -> None:
    size, *rest = sys.argv[1:]
    name, metadata_server = [*rest, *["127.0.0.1", "P2PHANDSHAKE"][len(rest) :]]
    memory = (ctypes.c_char * int(size))()
    address = ctypes.addressof(memory)
    engine = TransferEngine()
    assert engine.initialize(name, metadata_server, "tcp", "") == 0
    assert engine.register_memory(address, len(memory)) == 0
    print(engine.get_rpc_port(), address, flush=True)
    for line in sys.stdin:
        print(answer(line.split(), engine, memory), flush=True)


def answer(command: list[str], engine: TransferEngine, memory: ctypes.Array) -> object:
    address, size = ctypes.addressof(memory), len(memory)
    match command:
        case ["sum"]:
            return zlib.crc32(memory)
        case ["fill", byte]:
            ctypes.memset(memory, int(byte), size)
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
    return "ok"


if __name__ == "__main__":
    main()
