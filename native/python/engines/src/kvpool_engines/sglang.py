# SPDX-License-Identifier: Apache-2.0
"""SGLang: a dynamic storage backend of HiCache with the zero-copy interface.

    --hicache-storage-backend dynamic --hicache-storage-backend-extra-config '{"backend_name": "kvpool", "interface_v1": 1,
      "module_path": "kvpool_engines.sglang", "class_name": "KvpoolHiCache", "masters": "m0:50051,m1:50051"}'

A page of a host pool is one object, however many pieces of memory it lies in, so it is there whole or not at all. Pages of all
host pools of the same tokens are one group and evicted together: each is worth nothing without the others.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sglang.srt.mem_cache.hicache_storage import (
    HiCacheStorage,
    HiCacheStorageConfig,
    HiCacheStorageExtraInfo,
    PoolHitPolicy,
    PoolName,
    PoolTransfer,
    PoolTransferResult,
)
from sglang.srt.mem_cache.pool_host.mha import MHATokenToKVPoolHost

from kvpool_engines.pool import Pool
from kvpool_engines.settings import WrongSettings, read_settings

if TYPE_CHECKING:
    import torch

WHERE = "--hicache-storage-backend-extra-config"
_OF_SGLANG = {"backend_name", "module_path", "class_name", "interface_v1"}
_DRAFTS = {PoolName.DRAFT, PoolName.DRAFT_SWA}

logger = logging.getLogger(__name__)


class KvpoolHiCache(HiCacheStorage):
    """A pool as HiCache's third tier."""

    def __init__(self, storage_config: HiCacheStorageConfig, kwargs: dict[str, Any]) -> None:
        extra = storage_config.extra_config or {}
        if not extra.get("interface_v1"):
            raise WrongSettings(
                f'{WHERE}: interface_v1 is {extra.get("interface_v1")!r}, so SGLang would copy each page: write "interface_v1": 1'
            )
        self._config = storage_config
        self._settings = read_settings(extra, os.environ, WHERE, _OF_SGLANG)
        self._pool = Pool(self._settings, logger)
        self.registered_pools: dict[str, Any] = {}

    # ---- host pools

    def register_mem_pool_host(self, mem_pool_host: Any) -> None:
        self.mem_pool_host = mem_pool_host
        # A pool without memory only counts pages; all bytes are in the others.
        if mem_pool_host.kv_buffer is not None:
            self._register(mem_pool_host)

    def register_mem_host_pool_v2(self, host_pool: Any, host_pool_name: str) -> None:
        if host_pool_name != PoolName.KV:
            self.registered_pools[host_pool_name] = host_pool
            self._register(host_pool)

    def _register(self, host_pool: Any) -> None:
        of_several = getattr(host_pool, "get_hybrid_pool_buffer", None)
        for tensor in of_several() if of_several else [host_pool.kv_buffer]:
            if tensor is not None:
                self._pool.register(tensor.data_ptr(), tensor.numel() * tensor.element_size())

    # ---- the pages of keys and values

    def batch_exists(self, keys: list[str], extra_info: HiCacheStorageExtraInfo | None = None) -> int:
        if self.mem_pool_host.kv_buffer is None:
            return len(keys)
        return _prefix(self._present(keys, PoolName.KV))

    def batch_get_v1(
        self, keys: list[str], host_indices: torch.Tensor, extra_info: HiCacheStorageExtraInfo | None = None
    ) -> list[bool]:
        if self.mem_pool_host.kv_buffer is None:
            return [True] * len(keys)
        return self._load(keys, PoolName.KV, host_indices)

    def batch_set_v1(
        self, keys: list[str], host_indices: torch.Tensor, extra_info: HiCacheStorageExtraInfo | None = None
    ) -> list[bool]:
        if self.mem_pool_host.kv_buffer is not None:
            self._store(keys, PoolName.KV, host_indices)
        return [True] * len(keys)

    # ---- the pages of all host pools, for models with several

    def batch_exists_v2(
        self,
        keys: list[str],
        pool_transfers: list[PoolTransfer] | None = None,
        extra_info: HiCacheStorageExtraInfo | None = None,
    ) -> PoolTransferResult:
        pages = self.batch_exists(keys, extra_info)
        hits = {PoolName.KV: pages} if pages else {}
        restorable = set(range(1, pages + 1))
        for transfer in pool_transfers or []:
            # The second form of whole blocks never decides about the first, and none is kept here.
            if not restorable or transfer.hit_policy == PoolHitPolicy.BLOCK_GROUPS:
                continue
            present = self._present(keys[:pages], transfer.name)
            if transfer.hit_policy == PoolHitPolicy.ALL_PAGES:
                possible = set(range(1, _prefix(present) + 1))
            else:
                possible = _ends_of_windows(present, len(transfer.keys or []) or 1)
            if possible:
                hits[transfer.name] = max(possible)
            restorable &= possible
        return PoolTransferResult(max(restorable, default=0), hits, sorted(restorable))

    def batch_get_v2(
        self, transfers: list[PoolTransfer], extra_info: HiCacheStorageExtraInfo | None = None
    ) -> dict[str, list[bool]]:
        return {it.name: self._load(it.keys or [], it.name, it.host_indices) for it in transfers}

    def batch_set_v2(
        self, transfers: list[PoolTransfer], extra_info: HiCacheStorageExtraInfo | None = None
    ) -> dict[str, list[bool]]:
        for transfer in transfers:
            self._store(transfer.keys or [], transfer.name, transfer.host_indices)
        return {transfer.name: [True] * len(transfer.keys or []) for transfer in transfers}

    # ---- the rest

    def exists(self, key: str) -> bool:
        return self.batch_exists([key]) == 1

    def get(self, key: str, target_location: Any | None = None, target_sizes: Any | None = None) -> Any:
        raise NotImplementedError('pages are not copied: "interface_v1": 1 has SGLang call batch_get_v1')

    def set(
        self,
        key: str,
        value: Any | None = None,
        target_location: Any | None = None,
        target_sizes: Any | None = None,
    ) -> bool:
        raise NotImplementedError('pages are not copied: "interface_v1": 1 has SGLang call batch_set_v1')

    def batch_get(self, keys: list[str], target_locations: Any | None = None, target_sizes: Any | None = None) -> Any:
        raise NotImplementedError('pages are not copied: "interface_v1": 1 has SGLang call batch_get_v1')

    def batch_set(
        self,
        keys: list[str],
        values: Any | None = None,
        target_locations: Any | None = None,
        target_sizes: Any | None = None,
    ) -> bool:
        raise NotImplementedError('pages are not copied: "interface_v1": 1 has SGLang call batch_set_v1')

    def clear(self) -> bool:
        """Removes the pages of this model: they may be wrong now though their keys are right, as after new weights."""
        return self._pool.clear(self._begin)

    def counts(self) -> dict[str, int]:
        """See kvpool_engines.pool.Pool.counts()."""
        return self._pool.counts()

    def close(self) -> None:
        self._pool.close()

    # ---- objects

    def _present(self, pages: list[str], name: str) -> list[bool]:
        keys = self._keys(pages, name)
        return _all_of(self._pool.present(keys), len(pages))

    def _load(self, pages: list[str], name: str, host_indices: Any) -> list[bool]:
        keys = self._keys(pages, name)
        return _all_of(self._pool.load(keys, *self._memory(name, host_indices, len(pages), len(keys))), len(pages))

    def _store(self, pages: list[str], name: str, host_indices: Any) -> None:
        keys = self._keys(pages, name)
        groups = None
        if self.registered_pools or len(keys) > len(pages):
            each = len(keys) // len(pages) if pages else 0
            groups = [f"{self._begin}{page}" for page in pages for _ in range(each)]
        self._pool.store(keys, *self._memory(name, host_indices, len(pages), len(keys)), groups)

    def _memory(
        self, name: str, host_indices: Any, pages: int, objects: int
    ) -> tuple[list[list[int]], list[list[int]]]:
        """Addresses and lengths of the pieces of each object."""
        host_pool = self._host_pool(name)
        if len(host_indices) != pages * (host_pool.page_size or 1):
            raise ValueError(f"host pool {name}: {len(host_indices)} indices are not those of {pages} pages")
        if self._splits_heads(name):
            addresses, lengths = host_pool.get_split_heads_page_buffer_meta(host_indices, len(self._shards(name)))
        else:
            addresses, lengths = host_pool.get_page_buffer_meta(host_indices)
        pieces, rest = divmod(len(addresses), objects) if objects else (1, 0)
        if rest:
            raise ValueError(f"host pool {name} has {len(addresses)} pieces of memory for {objects} objects")
        starts = range(0, len(addresses), pieces)
        return [addresses[at : at + pieces] for at in starts], [lengths[at : at + pieces] for at in starts]

    def _keys(self, pages: list[str], name: str) -> list[str]:
        """Keys of the objects of pages, one after the other. A key says all that the bytes of a page follow from."""
        host_pool = self._host_pool(name)
        form = f"{getattr(host_pool, 'layout', '')}.{getattr(host_pool, 'dtype', '')}"
        return [f"{self._begin}{page}/{name}/{form}/{shard}" for page in pages for shard in self._shards(name)]

    @property
    def _begin(self) -> str:
        return f"{self._settings.namespace}sglang/{self._config.model_name}/"

    def _host_pool(self, name: str) -> Any:
        return self.mem_pool_host if name == PoolName.KV else self.registered_pools[name]

    def _splits_heads(self, name: str) -> bool:
        return bool(self._config.should_split_heads and name == PoolName.KV)

    def _shards(self, name: str) -> list[str]:
        """The shards of a page that this rank has; several where engines of several sizes of tensor parallelism share pages."""
        config = self._config
        stage = f"pp{config.pp_rank}.{config.pp_size}-cp{config.attn_cp_rank}.{config.attn_cp_size}"
        if self._all_ranks_have_the_same(name):
            return [stage]
        size = config.tp_lcm_size if self._splits_heads(name) else config.tp_size
        each = size // config.tp_size
        return [f"{stage}-tp{config.tp_rank * each + part}.{size}" for part in range(each)]

    def _all_ranks_have_the_same(self, name: str) -> bool:
        """As SGLang decides which ranks write: states of Mamba, and drafts that have heads, belong to their rank."""
        if not self._config.is_mla_model or name == PoolName.MAMBA:
            return False
        return name not in _DRAFTS or not isinstance(self.registered_pools[name], MHATokenToKVPoolHost)


def _all_of(answers: list[bool], pages: int) -> list[bool]:
    """For each page whether all of its objects have True."""
    each = len(answers) // pages if pages else 1
    return [all(answers[at : at + each]) for at in range(0, len(answers), each)]


def _prefix(present: Sequence[bool]) -> int:
    return present.index(False) if False in present else len(present)


def _ends_of_windows(present: Sequence[bool], window: int) -> set[int]:
    """After how many pages the last `window` of them, or all if there are fewer, are present."""
    return {end for end in range(1, len(present) + 1) if all(present[max(0, end - window) : end])}
