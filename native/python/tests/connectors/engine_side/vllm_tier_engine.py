# SPDX-License-Identifier: Apache-2.0
"""vLLM's tiered offloading: its managers of host memory and of tiers, called in the way of its scheduler, over memory of ours.

Of several releases: what an older one lacks, or calls by another name, is left out or called so.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import importlib.util
import json
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy
from blocks import UNTOUCHED, block_bytes, tokens_of
from stand_in import stand_in, unused
from tensors import install_torch
from vllm_stand_ins import install_vllm

CHUNKS, CHUNK_BYTES, TOKENS = 64, 4096, 16
SECONDS = 30


class Region:
    """In the place of vLLM's mapping that all workers share."""

    def __init__(self) -> None:
        self.memory = numpy.full((CHUNKS, CHUNK_BYTES), UNTOUCHED, numpy.uint8)

    def create_kv_memoryview(self) -> memoryview:
        return memoryview(self.memory)

    def cleanup(self) -> None:
        pass


class VllmTier:
    def __init__(self, tier_config: dict[str, Any]) -> None:
        self._tier_config = tier_config
        self._requests = 0
        self._manager: Any = None
        self.restart()

    def restart(
        self,
        tp_size: int = 1,
        dtype: str = "float16",
        cache_dtype: str = "auto",
        is_parallelism_agnostic: bool = False,
    ) -> None:
        """As another engine, which differs in this."""
        from vllm.v1.kv_offload.tiering.factory import SecondaryTierFactory
        from vllm.v1.kv_offload.tiering.manager import CPUPrimaryTierOffloadingManager, TieringOffloadingManager

        if self._manager:
            self._manager.shutdown()
        self._region = Region()
        self._primary = CPUPrimaryTierOffloadingManager(CHUNKS, self._region)
        view = self._primary.get_kv_memoryview()
        spec = _spec(tp_size, dtype, cache_dtype, is_parallelism_agnostic or tp_size == 1)
        self._tier = SecondaryTierFactory.create_secondary_tier(self._tier_config, view, spec)
        self._manager = TieringOffloadingManager(self._primary, [self._tier])

    def save(self, prompt: int, blocks: int) -> None:
        self.serve(prompt, blocks)

    def serve(self, prompt: int, blocks: int, params: dict | None = None, hint: dict | None = None) -> str:
        """A request with transfer parameters of its own, and with an orchestrator's KV hint. The policy by which the scheduler
        offers its chunks."""
        keys, request = self._keys(prompt, blocks), self._new_request(params, hint)
        policy = self._manager.on_new_request(request).policy.name
        to_store = self._manager.prepare_store(keys, request)
        for key, chunk in zip(to_store.keys_to_store, to_store.store_spec.block_ids, strict=True):
            self._region.memory[chunk] = block_bytes(prompt, keys.index(key), CHUNK_BYTES)
        if to_store.keys_to_store:
            self._manager.complete_store(to_store.keys_to_store, request)
        self._end(request)
        return policy

    def lookup(self, prompt: int, blocks: int) -> int:
        """In the tier, as host memory is emptied before."""
        self._empty_host_memory()
        request = self._new_request()
        found = self._found(self._keys(prompt, blocks), request)
        self._end(request)
        return [*found, False].index(False)

    def load(self, prompt: int, blocks: int) -> list[bool]:
        self._empty_host_memory()
        request, keys = self._new_request(), self._keys(prompt, blocks)
        self._found(keys, request)
        self._finish_transfers()
        return self._loaded(prompt, keys, request)

    def load_what_goes(self, prompt: int, blocks: int, masters: str) -> tuple[list, list[bool], list[str]]:
        """All objects of the pool go between lookup and load."""
        import kvpool

        self._empty_host_memory()
        request, keys = self._new_request(), self._keys(prompt, blocks)
        results = []
        get_finished_jobs = self._tier.get_finished_jobs

        def noting() -> list:
            finished = list(get_finished_jobs())
            results.extend([it.success, len(it.successful_keys)] for it in finished)
            return finished

        self._tier.get_finished_jobs = noting
        submit_load = self._tier.submit_load

        def later(job: Any) -> None:
            with kvpool.Client(masters) as client:
                client.remove_all(force=True)
            submit_load(job)

        self._tier.submit_load = later
        self._found(keys, request)
        self._finish_transfers()
        loaded = self._loaded(prompt, keys, request, finish=False)
        again = [self._manager.lookup(key, request).name for key in keys]
        self._end(request)
        return results, loaded, again

    def metrics(self) -> dict[str, int]:
        """What the tier has counted since the last call, under names that it declares."""
        declared = type(self._tier).build_metric_definitions(self._tier_config)
        values = self._tier.get_stats().data["data"]
        assert set(values) <= set(declared)
        return {name: sum(series.values()) for name, series in values.items()}

    def counts(self) -> dict[str, int]:
        return self._tier.counts()

    def close(self) -> None:
        self._manager.shutdown()

    # ---- the scheduler

    def _new_request(self, params: dict | None = None, hint: dict | None = None) -> Any:
        from vllm.v1.kv_offload.base import ReqContext

        self._requests += 1
        hints = []
        if hint:
            from vllm.v1.kv_hints import KvHintAction, KvHintsEnvelope

            hints.append(KvHintsEnvelope("1", "message", [KvHintAction(action_id="action", **hint)]))
        request = ReqContext(f"request-{self._requests}", params, *hints)
        self._manager.on_new_request(request)
        return request

    def _found(self, keys: list[bytes], request: Any) -> list[bool]:
        """Asks about all keys in each step until there is an answer for each."""
        from vllm.v1.kv_offload.base import LookupResult

        answers: dict[bytes, bool] = {}

        def ask() -> bool:
            for key in keys:
                if key not in answers and (answer := self._manager.lookup(key, request)) is not LookupResult.RETRY:
                    answers[key] = answer is not LookupResult.MISS
            return len(answers) == len(keys)

        self._until(ask)
        return [answers[key] for key in keys]

    def _loaded(self, prompt: int, keys: list[bytes], request: Any, finish: bool = True) -> list[bool]:
        from vllm.v1.kv_offload.base import LookupResult

        expected = numpy.full_like(self._region.memory, UNTOUCHED)
        loaded = [self._primary.lookup(key, request) is LookupResult.HIT for key in keys]
        for block, key in enumerate(keys):
            if loaded[block]:
                [chunk] = self._manager.prepare_load([key], request).block_ids
                expected[chunk] = block_bytes(prompt, block, CHUNK_BYTES)
                self._manager.complete_load([key], request)
        assert (self._region.memory == expected).all(), (
            "what was not loaded is untouched, and the rest is what was saved"
        )
        if finish:
            self._end(request)
        return loaded

    def _end(self, request: Any) -> None:
        self._manager.on_request_finished(request)
        self._finish_transfers()

    def _finish_transfers(self) -> None:
        self._step()  # submits what the lookups before it found
        self._until(lambda: not self._manager.has_pending_work())

    def _empty_host_memory(self) -> None:
        self._manager.reset_cache()
        if hasattr(self._manager, "on_reset_flushed"):
            self._manager.on_reset_flushed()
        self._region.memory[:] = UNTOUCHED

    def _until(self, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + SECONDS
        while not condition():
            assert time.monotonic() < end
            self._step()
            time.sleep(0.001)

    def _step(self) -> None:
        """The end of a step of the scheduler."""
        from vllm.v1.kv_offload.base import ScheduleEndContext

        self._manager.on_schedule_end(ScheduleEndContext((), ()))

    def _keys(self, prompt: int, blocks: int) -> list[bytes]:
        from vllm.v1.kv_offload.base import make_offload_key

        keys, before = [], b""
        tokens = tokens_of(prompt, blocks * TOKENS)
        for block in range(blocks):
            content = repr(tokens[block * TOKENS : (block + 1) * TOKENS]).encode()
            before = hashlib.sha256(before + content).digest()
            keys.append(make_offload_key(before, 0))
        return keys


def _has_settings_of_all() -> bool:
    """Before 0.26 a tier is given the settings of all of vLLM."""
    return importlib.util.find_spec("vllm.v1.kv_offload.config") is None


def _spec(tp_size: int, dtype: str, cache_dtype: str, is_parallelism_agnostic: bool) -> SimpleNamespace:
    layers = ("layers.0", "layers.1")
    if _has_settings_of_all():
        ranks = {"tensor": tp_size, "pipeline": 1, "prefill_context": 1, "decode_context": 1}
        return SimpleNamespace(
            vllm_config=SimpleNamespace(
                model_config=SimpleNamespace(model="model", dtype=f"torch.{dtype}"),
                cache_config=SimpleNamespace(cache_dtype=cache_dtype),
                parallel_config=SimpleNamespace(**{f"{kind}_parallel_size": size for kind, size in ranks.items()}),
            ),
            kv_cache_config=SimpleNamespace(kv_cache_groups=[SimpleNamespace(layer_names=list(layers))]),
            gpu_block_size=(TOKENS,),
            hash_block_size=TOKENS,
            block_size_factor=1,
        )
    from vllm.v1.kv_offload.config import (
        OffloadingCacheConfig,
        OffloadingConfig,
        OffloadingGroupConfig,
        OffloadingModelConfig,
        OffloadingParallelConfig,
    )

    group = _made(OffloadingGroupConfig, tokens_per_block=TOKENS, layer_names=layers, group_id=0)
    parallel = _made(
        OffloadingParallelConfig,
        **{"rank": 0, "world_size": tp_size, "tp_size": tp_size, "pp_size": 1, "pcp_size": 1, "dcp_size": 1},
        **{"data_parallel_index": 0, "data_parallel_size": 1, "data_parallel_rank_local": None},
        is_parallelism_agnostic=is_parallelism_agnostic,
    )
    config = OffloadingConfig(
        groups=(group,),
        worker_kv_bytes_per_block=CHUNK_BYTES,
        enable_kv_cache_events=False,
        extra_config={},
        engine_id="engine",
        model=OffloadingModelConfig("model", dtype if cache_dtype == "auto" else cache_dtype),
        cache=OffloadingCacheConfig(TOKENS, 1),
        parallel=parallel,
    )
    return SimpleNamespace(config=config)


def _made(kind: type, **values: Any) -> Any:
    """Of a dataclass with as many of these fields as it has."""
    fields = {it.name for it in dataclasses.fields(kind)}
    return kind(**{name: value for name, value in values.items() if name in fields})


def start(arguments: list[str]) -> VllmTier:
    install_torch()
    install_vllm()
    if _has_settings_of_all():
        stand_in("vllm.v1.core")
        stand_in("vllm.v1.core.kv_cache_utils", **unused("resolve_kv_cache_block_sizes"))
    if importlib.util.find_spec("vllm.distributed.kv_events") is None:  # 0.26 has a name of it
        stand_in("vllm.distributed.kv_events", MEDIUM_CPU="CPU")
    # As in each process of vLLM.
    from vllm.plugins import load_general_plugins

    load_general_plugins()
    stand_in("vllm.v1.kv_offload.cpu.shared_offload_region", **unused("SharedOffloadRegion"))

    parser = argparse.ArgumentParser()
    parser.add_argument("--kv-transfer-config", type=json.loads, required=True)
    config = parser.parse_args(arguments).kv_transfer_config
    assert config["kv_connector"] == "OffloadingConnector"
    assert config["kv_connector_extra_config"]["spec_name"] == "TieringOffloadingSpec"
    [tier] = config["kv_connector_extra_config"]["secondary_tiers"]
    return VllmTier(tier)
