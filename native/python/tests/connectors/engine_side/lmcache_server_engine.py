# SPDX-License-Identifier: Apache-2.0
"""LMCache's multi-process mode: its L2 adapter over memory of ours, called in the way of the server's controllers."""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import select
from types import SimpleNamespace
from typing import Any

import numpy
from blocks import UNTOUCHED, block_bytes, tokens_of
from lmcache_engine import Unmeasured
from stand_in import stand_in, unused
from tensors import install_torch

OBJECTS, OBJECT_BYTES, TOKENS = 64, 6000, 16
SECONDS = 30


class Bitmap:
    """Of LMCache's extension."""

    def __init__(self, size: int) -> None:
        self.bits = [False] * size

    def set(self, at: int) -> None:
        self.bits[at] = True


class LmcacheServer:
    def __init__(self, config: Any) -> None:
        from lmcache.v1.distributed.l2_adapters import create_l2_adapter

        self._memory = numpy.full((OBJECTS, OBJECT_BYTES), UNTOUCHED, numpy.uint8)
        self._adapter = create_l2_adapter(config)
        descriptors = (
            self._adapter.get_store_event_fd(),
            self._adapter.get_lookup_and_lock_event_fd(),
            self._adapter.get_load_event_fd(),
        )
        assert len(set(descriptors)) == 3
        self._store_end, self._lookup_end, self._load_end = descriptors

    def store(self, prompt: int, blocks: int) -> bool:
        for block in range(blocks):
            self._memory[block] = block_bytes(prompt, block, OBJECT_BYTES)
        task = self._adapter.submit_store_task(self._keys(prompt, blocks), self._objects(range(blocks)))
        self._await(self._store_end)
        result = self._adapter.pop_completed_store_tasks()[task]
        assert not result.is_successful() or result.bytes_transferred() == blocks * OBJECT_BYTES
        return result.is_successful()

    def save(self, prompt: int, blocks: int) -> None:
        """Whether it was stored is not the engine's to know."""
        self.store(prompt, blocks)

    def lookup_each(self, prompt: int, blocks: int) -> list[bool]:
        keys = self._keys(prompt, blocks)
        task = self._adapter.submit_lookup_and_lock_task(keys, {})
        self._await(self._lookup_end)
        found = self._adapter.query_lookup_and_lock_result(task).bits
        self._adapter.submit_unlock([key for key, there in zip(keys, found, strict=True) if there])
        return found

    def lookup(self, prompt: int, blocks: int) -> int:
        return [*self.lookup_each(prompt, blocks), False].index(False)

    def load(self, prompt: int, blocks: int) -> list[bool]:
        """Into other memory than store() takes, in another order."""
        self._memory[:] = UNTOUCHED
        places = [OBJECTS - 1 - 2 * block for block in range(blocks)]
        task = self._adapter.submit_load_task(self._keys(prompt, blocks), self._objects(places))
        self._await(self._load_end)
        loaded = self._adapter.query_load_result(task).bits
        expected = numpy.full_like(self._memory, UNTOUCHED)
        for block, place in enumerate(places):
            if loaded[block]:
                expected[place] = block_bytes(prompt, block, OBJECT_BYTES)
        assert (self._memory == expected).all(), "what was not loaded is untouched, and the rest is what was saved"
        return loaded

    def delete(self, prompt: int, blocks: int) -> None:
        self._adapter.delete(self._keys(prompt, blocks))

    def counts(self) -> dict[str, int]:
        return self._adapter._client.counts()

    def close(self) -> None:
        self._adapter.close()

    def _await(self, descriptor: int) -> None:
        from lmcache.v1.platform.event_notifier import consume_fd

        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        assert poller.poll(SECONDS * 1000), "the batch does not end"
        consume_fd(descriptor)

    def _objects(self, places: Any) -> list[SimpleNamespace]:
        whole = ctypes.c_ubyte * OBJECT_BYTES
        begin = self._memory.ctypes.data
        return [
            SimpleNamespace(byte_array=memoryview(whole.from_address(begin + place * OBJECT_BYTES))) for place in places
        ]

    def _keys(self, prompt: int, blocks: int) -> list[Any]:
        from lmcache.v1.distributed.api import ObjectKey

        tokens = tokens_of(prompt, blocks * TOKENS)
        ends = range(TOKENS, len(tokens) + 1, TOKENS)
        return [ObjectKey(hashlib.sha256(repr(tokens[:end]).encode()).digest(), "some/model", 3) for end in ends]


def start(arguments: list[str]) -> LmcacheServer:
    install_torch()
    stand_in("lmcache.lmcache_native", Bitmap=Bitmap)
    stand_in("lmcache.v1.memory_management", **unused("MemoryObj", "TensorMemoryObj"))
    stand_in("lmcache.v1.distributed.serde", **unused("SerdeConfig"))
    stand_in("lmcache.v1.mp_observability.otel_init", register_gauge=Unmeasured())
    platform = stand_in("lmcache.v1.platform")
    from lmcache.v1.platform.event_notifier import create_event_notifier

    platform.create_event_notifier = create_event_notifier
    from lmcache.v1.distributed.l2_adapters.config import add_l2_adapters_args, parse_args_to_l2_adapters_config

    parser = add_l2_adapters_args(argparse.ArgumentParser())
    [config] = parse_args_to_l2_adapters_config(parser.parse_args(arguments)).adapters
    return LmcacheServer(config)
