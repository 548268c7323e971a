# SPDX-License-Identifier: Apache-2.0
"""Puts objects into a pool and gets them back from coroutines, with kvpool.aio and with mooncake.async_store.

kvpool local --storage-nodes 2 --segment-size 1GiB
pip install dist/wheels/*.whl
python3 asyncio_put_get.py 127.0.0.1:50051
"""

import asyncio
import sys

import kvpool.aio
from mooncake.async_store import MooncakeDistributedStoreAsync


async def with_kvpool(masters: str) -> None:
    async with await kvpool.aio.Client.connect(masters, max_calls=8) as client:
        keys = [f"block/{i}" for i in range(32)]
        await asyncio.gather(*(client.put(key, key.encode()) for key in keys))
        blocks = await asyncio.gather(*(client.get(key) for key in keys))
        print("32 puts and gets, 8 at a time:", blocks[0], "to", blocks[-1])
        print("the same in one call         :", (await client.get_batch(keys)) == blocks)
        await client.remove_batch(keys, force=True)


async def with_mooncake(masters: str) -> None:
    store = MooncakeDistributedStoreAsync()
    code = await store.async_setup("localhost", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", masters)
    if code != 0:
        sys.exit(f"setup failed with {code}; the line above says why")
    print("async_put", await store.async_put("greeting", b"hello, pool"))
    print("async_get", await store.async_get("greeting"))
    await store.async_remove("greeting", force=True)
    await store.async_close()


async def main(masters: str) -> None:
    try:
        await with_kvpool(masters)
    except kvpool.KvpoolError as error:
        sys.exit(str(error))
    await with_mooncake(masters)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1:50051"))
