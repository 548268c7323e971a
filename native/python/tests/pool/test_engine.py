# SPDX-License-Identifier: Apache-2.0
"""A transfer engine and a store in one process, the engine handed to the store as vllm-ascend and SGLang do."""

import ctypes

from local_pool import LocalPool

from mooncake.engine import TransferEngine
from mooncake.store import MooncakeDistributedStore


def test_the_store_takes_the_engine_and_both_go_on(pool: LocalPool, prefix: str) -> None:
    engine = TransferEngine()
    assert engine.initialize("127.0.0.1", "P2PHANDSHAKE", "tcp", "") == 0
    peer = TransferEngine()
    assert peer.initialize("127.0.0.1", "P2PHANDSHAKE", "tcp", "") == 0

    store = MooncakeDistributedStore()
    assert store.setup("127.0.0.1", "P2PHANDSHAKE", 0, 0, "tcp", "", pool.masters, engine=engine.get_engine()) == 0

    ours = ctypes.create_string_buffer(b"from the pool", 4096)
    theirs = ctypes.create_string_buffer(4096)
    for memory, owner in ((ours, engine), (theirs, peer)):
        assert owner.register_memory(ctypes.addressof(memory), len(memory)) == 0
    assert store.register_buffer(ctypes.addressof(ours), len(ours)) == 0, "the same memory serves both"
    assert store.put_from(prefix, ctypes.addressof(ours), 13) == 0

    target = f"127.0.0.1:{peer.get_rpc_port()}"
    assert engine.transfer_sync_write(target, ctypes.addressof(ours), ctypes.addressof(theirs), 13) == 0
    assert theirs.raw[:13] == b"from the pool"

    ctypes.memset(ours, 0, len(ours))
    assert store.get_into(prefix, ctypes.addressof(ours), len(ours)) == 13
    assert ours.raw[:13] == b"from the pool"

    store.close()  # the engine is not the store's to end
    assert engine.transfer_sync_read(target, ctypes.addressof(ours) + 100, ctypes.addressof(theirs), 13) == 0
    assert ours.raw[100:113] == b"from the pool"
