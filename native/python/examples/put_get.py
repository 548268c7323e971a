# SPDX-License-Identifier: Apache-2.0
"""Puts an object into a pool and gets it back, with nothing but mooncake.store.

kvpool local --storage-nodes 2 --segment-size 1GiB
pip install dist/wheels/*.whl
python3 put_get.py 127.0.0.1:50051
"""

import ctypes
import sys

from mooncake.store import MooncakeDistributedStore


def main(masters: str) -> None:
    store = MooncakeDistributedStore()
    # This host, any metadata server, no memory for the pool, no staging buffer, tcp, no device, the masters.
    code = store.setup("localhost", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", masters)
    if code != 0:
        sys.exit(f"setup failed with {code}; the line above says why")

    print("put          ", store.put("greeting", b"hello, pool"))
    print("get          ", store.get("greeting"))
    print("is_exist     ", store.batch_is_exist(["greeting", "no such key"]))

    # Without a copy: straight from and into memory of ours, as engines do with their KV blocks.
    block = (ctypes.c_char * 4096).from_buffer(bytearray(b"block" * 8).ljust(4096))
    address = ctypes.addressof(block)
    store.register_buffer(address, len(block))
    print("put_from     ", store.put_from("block", address, 40))
    print("get_into     ", store.get_into("block", address + 2048, 2048), block.raw[2048:2053])
    store.unregister_buffer(address)

    print("remove       ", store.remove("greeting"), "(-706: a reader may still use it)")
    print("remove, force", store.remove("greeting", force=True))
    store.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:50051")
