# SPDX-License-Identifier: Apache-2.0
"""A process with a transfer engine and one registered region: peer.py FIRST_PORT LAST_PORT SIZE

Prints "PORT ADDRESS", then obeys lines on stdin: `sum` (CRC-32 of the region), `notifies`, `fill BYTE`, `unregister`,
`register`; each answer is one line.
"""

import ctypes
import sys
import zlib

import kvpool


def main() -> None:
    first, last, size = map(int, sys.argv[1:])
    memory = (ctypes.c_char * size)()
    address = ctypes.addressof(memory)
    with kvpool.TransferEngine("peer", listen_host="127.0.0.1", ports=(first, last)) as engine:
        engine.register([address], [size])
        print(engine.port, address, flush=True)
        for line in sys.stdin:
            print(answer(line.split(), engine, memory), flush=True)


def answer(command: list[str], engine: kvpool.TransferEngine, memory: ctypes.Array) -> object:
    match command:
        case ["sum"]:
            return zlib.crc32(memory)
        case ["fill", byte]:
            ctypes.memset(memory, int(byte), len(memory))
        case ["notifies"]:
            told = []
            while (notify := engine.next_notify()) is not None:
                told.append(notify)
            return told
        case ["unregister"]:
            engine.unregister([ctypes.addressof(memory)])
        case ["register"]:
            engine.register([ctypes.addressof(memory)], [len(memory)])
    return "ok"


if __name__ == "__main__":
    main()
