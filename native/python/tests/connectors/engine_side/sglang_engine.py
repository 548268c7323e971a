# SPDX-License-Identifier: Apache-2.0
"""SGLang's HiCache: a storage backend over a host pool of ours, in the way of its HiCacheController."""

from __future__ import annotations

import argparse
import hashlib
import json

import numpy
from blocks import UNTOUCHED, block_bytes, tokens_of
from ranks import Shape
from stand_in import stand_in, unused
from tensors import FLOAT16, INT64, Tensor, install_torch

LAYERS, HEADS, WIDTH, PAGES = 4, 2, 32, 64


class HostPool:
    """Host memory of keys and values of these heads in SGLang's layout page_first: [2, tokens, layers, heads, width]."""

    layout, dtype = "page_first", FLOAT16

    def __init__(self, page_size: int, heads: range = range(HEADS)) -> None:
        self.page_size, self._heads = page_size, heads
        self._token_bytes = LAYERS * len(heads) * WIDTH * FLOAT16.itemsize
        self.page_bytes = page_size * self._token_bytes
        self.memory = numpy.full((2, PAGES, self.page_bytes), UNTOUCHED, numpy.uint8)
        shape = (2, PAGES * page_size, LAYERS, len(heads), WIDTH)
        self.kv_buffer = Tensor(self.memory.view(FLOAT16.numpy_type).reshape(shape), FLOAT16)

    def content(self, prompt: int, block: int) -> numpy.ndarray:
        """Keys and values of a page: its heads' part of what all ranks have of it."""
        head_bytes = WIDTH * FLOAT16.itemsize
        shape = (2, self.page_size, LAYERS, HEADS, head_bytes)
        of_all = block_bytes(prompt, block, 2 * self.page_size * LAYERS * HEADS * head_bytes).reshape(shape)
        return of_all[:, :, :, self._heads].reshape(2, self.page_bytes)

    def get_hybrid_pool_buffer(self) -> list[Tensor]:
        return [self.kv_buffer[0], self.kv_buffer[1]]

    def get_ksize_per_token(self) -> int:
        return self._token_bytes

    def get_page_buffer_meta(self, indices: Tensor) -> tuple[list[int], list[int]]:
        addresses = []
        for token in indices.tolist()[:: self.page_size]:
            key = self.kv_buffer.data_ptr() + token * self._token_bytes
            addresses += [key, key + self.memory[0].nbytes]
        return addresses, [self.page_bytes] * len(addresses)

    def get_split_heads_page_buffer_meta(self, indices: Tensor, parts: int) -> tuple[list[int], list[int]]:
        """As if heads came before tokens: each part of a page is a part of its memory."""
        addresses, _ = self.get_page_buffer_meta(indices)
        each = self.page_bytes // parts
        pairs = list(zip(addresses[::2], addresses[1::2], strict=True))
        split = [it + part * each for pair in pairs for part in range(parts) for it in pair]
        return split, [each] * len(split)


class Sglang:
    def __init__(self, backend_name: str, model: str, pool: HostPool, extra_config: dict) -> None:
        self._pool, self._backend_name = pool, backend_name
        self._config = {
            "tp_rank": 0,
            "tp_size": 1,
            "pp_rank": 0,
            "pp_size": 1,
            "attn_cp_rank": 0,
            "attn_cp_size": 1,
            "is_mla_model": False,
            "enable_storage_metrics": False,
            "is_page_first_layout": True,
            "model_name": model,
            "extra_config": extra_config,
        }
        self.restart()

    def restart(self, **config: object) -> None:
        """As the process of another rank, or of another engine: what is given differs."""
        from sglang.srt.mem_cache.hicache_storage import HiCacheStorageConfig
        from sglang.srt.mem_cache.storage.backend_factory import StorageBackendFactory

        complete = HiCacheStorageConfig(**{**self._config, **config})
        ranks = Shape(complete.tp_size, heads=HEADS).ranks()
        heads = range(HEADS) if complete.is_mla_model else ranks[complete.tp_rank].heads
        self._pool = HostPool(self._pool.page_size, heads)
        self._backend = StorageBackendFactory.create_backend(self._backend_name, complete, self._pool)
        self._backend.register_mem_pool_host(self._pool)
        self._backend.on_host_pools_registered()

    def save(self, prompt: int, blocks: int) -> None:
        for block in range(blocks):
            self._pool.memory[:, block] = self._pool.content(prompt, block)
        saved = self._backend.batch_set_v1(self._keys(prompt, blocks), self._host_indices(range(blocks)))
        assert saved == [True] * blocks, saved

    def lookup(self, prompt: int, blocks: int) -> int:
        return self._backend.batch_exists(self._keys(prompt, blocks))

    def load(self, prompt: int, blocks: int, spoils: bool = False) -> list[bool]:
        """Into other pages than save() takes, in another order. `spoils`: what was not loaded may be anything."""
        self._pool.memory[:] = UNTOUCHED
        pages = [PAGES - 1 - 2 * block for block in range(blocks)]
        loaded = self._backend.batch_get_v1(self._keys(prompt, blocks), self._host_indices(pages))
        expected = numpy.full_like(self._pool.memory, UNTOUCHED)
        for block, page in enumerate(pages):
            if loaded[block]:
                expected[:, page] = self._pool.content(prompt, block)
            elif spoils:
                expected[:, page] = self._pool.memory[:, page]
        assert (self._pool.memory == expected).all(), "what was not loaded is untouched, and the rest is what was saved"
        return loaded

    def save_all(self, prompt: int, blocks: int, windows: list[int]) -> None:
        """As for a model with several host pools: keys and values, and of these pages another pool's."""
        self.save(prompt, blocks)
        for window in windows:
            self._side_pool().memory[:, window] = self._side_pool().content(prompt + 1, window)
        [saved] = self._backend.batch_set_v2([self._transfer(prompt, windows, windows)]).values()
        assert saved == [True] * len(windows)

    def lookup_all(self, prompt: int, blocks: int, hit_policy: str, trailing: int) -> list:
        from sglang.srt.mem_cache.hicache_storage import PoolHitPolicy

        transfer = self._transfer(prompt, range(blocks - trailing, blocks), [])
        transfer.hit_policy = PoolHitPolicy(hit_policy)
        found = self._backend.batch_exists_v2(self._keys(prompt, blocks), [transfer])
        return [found.kv_hit_pages, found.extra_pool_hit_pages, found.restorable_prefix_pages]

    def load_all(self, prompt: int, windows: list[int]) -> list[bool]:
        side_pool = self._side_pool()
        side_pool.memory[:] = UNTOUCHED
        pages = [PAGES - 1 - window for window in windows]
        [loaded] = self._backend.batch_get_v2([self._transfer(prompt, windows, pages)]).values()
        for window, page, is_loaded in zip(windows, pages, loaded, strict=True):
            expected = side_pool.content(prompt + 1, window) if is_loaded else UNTOUCHED
            assert (side_pool.memory[:, page] == expected).all()
        return loaded

    def load_short(self, prompt: int) -> str:
        """Memory for two pages, and keys of four."""
        try:
            self._backend.batch_get_v1(self._keys(prompt, 4), self._host_indices(range(2)))
        except ValueError as refusal:
            return str(refusal)
        return ""

    def counts(self) -> dict[str, int]:
        """Of the plugin."""
        return self._backend.counts()

    def clear(self) -> bool:
        return self._backend.clear()

    def close(self) -> None:
        self._backend.close()

    def _side_pool(self) -> HostPool:
        if "mamba" not in self._backend.registered_pools:
            self._backend.register_mem_host_pool_v2(HostPool(self._pool.page_size), "mamba")
        return self._backend.registered_pools["mamba"]

    def _transfer(self, prompt: int, blocks: object, pages: object) -> object:
        from sglang.srt.mem_cache.hicache_storage import PoolName, PoolTransfer

        self._side_pool()
        keys = [self._keys(prompt, block + 1)[block] for block in blocks]
        return PoolTransfer(PoolName.MAMBA, host_indices=self._host_indices(pages), keys=keys)

    def _keys(self, prompt: int, blocks: int) -> list[str]:
        """Page hashes: SHA-256 of the page before and the page's tokens."""
        keys, before = [], b""
        for block in range(blocks):
            tokens = tokens_of(prompt, (block + 1) * self._pool.page_size)[block * self._pool.page_size :]
            before = hashlib.sha256(before + b"".join(token.to_bytes(4, "little") for token in tokens)).digest()
            keys.append(before.hex())
        return keys

    def _host_indices(self, pages: object) -> Tensor:
        tokens = [page * self._pool.page_size + token for page in pages for token in range(self._pool.page_size)]
        return Tensor(numpy.array(tokens, numpy.int64), INT64)


def start(arguments: list[str]) -> Sglang:
    install_torch()
    pools = "sglang.srt.mem_cache.pool_host"
    stand_in(pools, **unused("HostKVCache"), HostTensorAllocator=object)
    stand_in(f"{pools}.mla", **unused("MLATokenToKVPoolHost"))
    stand_in(f"{pools}.mha", **unused("MHATokenToKVPoolHost"))
    stand_in("sglang.srt.mem_cache.hybrid_cache.linker_pool_assembler", **unused("DevicePoolEntry"))
    stand_in("sglang.srt.observability.metrics_collector", **unused("StorageMetrics"))

    parser = argparse.ArgumentParser()
    for option in ("--model-path", "--page-size", "--hicache-mem-layout", "--hicache-storage-backend"):
        parser.add_argument(option, required=True)
    parser.add_argument("--hicache-storage-backend-extra-config", type=json.loads, default={})
    given, _ = parser.parse_known_args(arguments)
    assert given.hicache_mem_layout == "page_first", "HostPool has this layout"
    pool = HostPool(int(given.page_size))
    extra_config = given.hicache_storage_backend_extra_config
    return Sglang(given.hicache_storage_backend, given.model_path, pool, extra_config)
