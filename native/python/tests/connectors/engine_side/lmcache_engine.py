# SPDX-License-Identifier: Apache-2.0
"""LMCache in vLLM's process: its remote backend with its mooncakestore connector, as its engine calls them."""

from __future__ import annotations

import asyncio
import ctypes
import threading
from types import SimpleNamespace
from typing import Any

import numpy
from blocks import UNTOUCHED, block_bytes, tokens_of
from stand_in import stand_in, unused
from tensors import FLOAT16, install_torch
from vllm_stand_ins import install_vllm

LAYERS, HEADS, WIDTH = 3, 2, 32
ARENA_BYTES = 16 << 20
PUT_SECONDS = 30


class Unmeasured:
    """Metrics that nobody reads: counters, gauges and monitors that take everything."""

    @classmethod
    def GetOrCreate(cls, *_: object, **__: object) -> Unmeasured:
        return cls()

    def __getattr__(self, name: str) -> Unmeasured:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *_: object, **__: object) -> None:
        return None


class HostMemory:
    """What LMCache's extension allocates pinned: one arena, so that all of it can be looked at."""

    def __init__(self) -> None:
        self.memory = numpy.zeros(0, numpy.uint8)

    def alloc_pinned_ptr(self, size: int, flags: int) -> int:
        self._owned = ctypes.create_string_buffer(size)
        self.memory = numpy.frombuffer(self._owned, numpy.uint8)
        return ctypes.addressof(self._owned)

    def free_pinned_ptr(self, address: int) -> None:
        """Goes with the process."""


class LocalCpuBackend:
    """LMCache's first tier as far as a connector knows it: memory out of LMCache's own allocator."""

    def __init__(self, config: Any, metadata: Any) -> None:
        from lmcache.v1.memory_allocators.mixed_memory_allocator import MixedMemoryAllocator

        self.config, self.metadata = config, metadata
        self.memory_allocator = MixedMemoryAllocator(ARENA_BYTES)
        self.allocate = self.memory_allocator.allocate


class Lmcache:
    def __init__(self, model: str, host_memory: HostMemory) -> None:
        from lmcache.v1.config import load_engine_config_with_overrides
        from lmcache.v1.metadata import LMCacheMetadata
        from lmcache.v1.storage_backend.remote_backend import RemoteBackend
        from lmcache.v1.token_database import ChunkedTokenDatabase

        config = load_engine_config_with_overrides()
        self._chunk_size = config.chunk_size
        metadata = LMCacheMetadata(
            model_name=model,
            world_size=1,
            local_world_size=1,
            worker_id=0,
            local_worker_id=0,
            kv_dtype=FLOAT16,
            kv_shape=(LAYERS, 2, config.chunk_size, HEADS, WIDTH),
            chunk_size=config.chunk_size,
        )
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()
        self._cpu = LocalCpuBackend(config, metadata)
        self._host_memory = host_memory
        self._tokens = ChunkedTokenDatabase(config, metadata)
        self._backend = RemoteBackend(config, metadata, self._loop, self._cpu)

    def save(self, prompt: int, blocks: int) -> None:
        keys = self._keys(prompt, blocks)
        objects = [self._object(prompt, block) for block in range(blocks)]
        put = threading.Semaphore(0)
        self._backend.batched_submit_put_task(keys, objects, on_complete_callback=lambda _: put.release())
        for memory in objects:
            assert put.acquire(timeout=PUT_SECONDS)
            memory.ref_count_down()

    def lookup(self, prompt: int, blocks: int) -> int:
        return self._backend.batched_contains(self._keys(prompt, blocks))

    def load(self, prompt: int, blocks: int) -> list[bool]:
        self._host_memory.memory[:] = UNTOUCHED
        objects = self._backend.batched_get_blocking(self._keys(prompt, blocks))
        expected = numpy.full_like(self._host_memory.memory, UNTOUCHED)
        begin = self._host_memory.memory.ctypes.data
        for block, memory in enumerate(objects):
            if memory is not None:
                at = memory.data_ptr - begin
                expected[at : at + memory.get_size()] = block_bytes(prompt, block, memory.get_size())
                memory.ref_count_down()
        assert (self._host_memory.memory == expected).all(), (
            "what was not loaded is untouched, the rest is what was saved"
        )
        return [memory is not None for memory in objects]

    def close(self) -> None:
        self._backend.close()

    def _object(self, prompt: int, block: int) -> Any:
        metadata = self._cpu.metadata
        memory = self._cpu.allocate(metadata.get_shapes(), metadata.get_dtypes())
        numpy.frombuffer(memory.byte_array, numpy.uint8)[:] = block_bytes(prompt, block, memory.get_size())
        return memory

    def _keys(self, prompt: int, blocks: int) -> list[Any]:
        tokens = tokens_of(prompt, blocks * self._chunk_size)
        return [key for _, _, key in self._tokens.process_tokens(tokens)]


def _create_naive_serde(kind: str, metadata: object, config: object) -> tuple[object, object]:
    """Its own would import the compressors, which compute on GPUs."""
    from lmcache.v1.storage_backend.naive_serde.naive_serde import NaiveDeserializer, NaiveSerializer

    assert kind == "naive"
    return NaiveSerializer(), NaiveDeserializer()


def start(arguments: list[str]) -> Lmcache:
    install_torch()
    install_vllm()
    host_memory = HostMemory()
    no_device = SimpleNamespace(is_available=lambda: False)
    stand_in("lmcache", torch_dev=no_device, torch_device_type="cpu", device_ops=host_memory)
    stand_in("lmcache.observability", LMCStatsMonitor=Unmeasured, PrometheusLogger=Unmeasured)
    stand_in("lmcache.v1.pin_monitor", **unused("PinMonitor"))
    stand_in("lmcache.v1.platform", current_device_spec=None)
    stand_in(
        "lmcache.v1.system_detection",
        NUMADetector=SimpleNamespace(get_numa_mapping=lambda _: None),
        **unused("NUMAMapping"),
    )
    stand_in("lmcache.v1.storage_backend.local_cpu_backend", LocalCPUBackend=LocalCpuBackend)
    stand_in("lmcache.v1.storage_backend.naive_serde", CreateSerde=_create_naive_serde)
    stand_in("transformers", **unused("AutoTokenizer"))
    from lmcache.utils import get_size_bytes

    stand_in("lmcache.integration.vllm.utils", get_size_bytes=get_size_bytes)
    return Lmcache(arguments[0], host_memory)
