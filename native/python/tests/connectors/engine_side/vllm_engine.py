# SPDX-License-Identifier: Apache-2.0
"""vLLM's MooncakeStoreConnector, both of its roles, in the way of vLLM's scheduler and model runner with load_async."""

from __future__ import annotations

import argparse
import json
import time
from types import SimpleNamespace
from typing import Any

import numpy
from blocks import UNTOUCHED, block_bytes, tokens_of
from tensors import FLOAT16, Tensor, install_torch
from vllm_stand_ins import install_vllm

LAYERS, HEADS, WIDTH, BLOCK_SIZE, BLOCKS = 3, 2, 32, 16, 64
LOAD_SECONDS = 30


class KvCaches:
    """A tensor per layer, [blocks, keys and values, tokens, heads, width]."""

    def __init__(self) -> None:
        self.block_bytes = 2 * BLOCK_SIZE * HEADS * WIDTH * FLOAT16.itemsize
        self.memory = [numpy.full((BLOCKS, self.block_bytes), UNTOUCHED, numpy.uint8) for _ in range(LAYERS)]
        shape = (BLOCKS, 2, BLOCK_SIZE, HEADS, WIDTH)
        self.tensors = {
            f"model.layers.{layer}.self_attn": Tensor(memory.view(FLOAT16.numpy_type).reshape(shape), FLOAT16)
            for layer, memory in enumerate(self.memory)
        }

    def fill(self, prompt: int, block: int, block_id: int) -> None:
        for layer, content in enumerate(self._content(prompt, block)):
            self.memory[layer][block_id] = content

    def clear(self) -> None:
        for memory in self.memory:
            memory[:] = UNTOUCHED

    def check(self, prompt: int, block_ids: dict[int, int]) -> None:
        """That these blocks of the prompt are where `block_ids` says, and nothing is anywhere else."""
        expected = KvCaches()
        for block, block_id in block_ids.items():
            expected.fill(prompt, block, block_id)
        for layer in range(LAYERS):
            assert (self.memory[layer] == expected.memory[layer]).all(), f"layer {layer}"

    def _content(self, prompt: int, block: int) -> numpy.ndarray:
        return block_bytes(prompt, block, LAYERS * self.block_bytes).reshape(LAYERS, -1)


class Vllm:
    def __init__(self, transfer_config: dict[str, Any], model: str) -> None:
        from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory
        from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorRole
        from vllm.utils.hashing import sha256
        from vllm.v1.core.block_pool import BlockPool
        from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
        from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec

        self._caches = KvCaches()
        spec = FullAttentionSpec(block_size=BLOCK_SIZE, num_kv_heads=HEADS, head_size=WIDTH, dtype=FLOAT16)
        groups = [KVCacheGroupSpec(list(self._caches.tensors), spec)]
        kv_cache_config = KVCacheConfig(num_blocks=BLOCKS, kv_cache_tensors=[], kv_cache_groups=groups)
        config = _vllm_config(transfer_config, model)
        init_none_hash(sha256)
        self._hash_blocks = get_request_block_hasher(BLOCK_SIZE, sha256)
        self._block_pool = BlockPool(BLOCKS, enable_caching=True, hash_block_size=BLOCK_SIZE)
        self._scheduler = KVConnectorFactory.create_connector(config, KVConnectorRole.SCHEDULER, kv_cache_config)
        self._scheduler.bind_gpu_block_pool(self._block_pool)
        self._worker = KVConnectorFactory.create_connector(config, KVConnectorRole.WORKER, kv_cache_config)
        self._worker.register_kv_caches(self._caches.tensors)
        self._found: dict[int, tuple[Any, int]] = {}

    def save(self, prompt: int, blocks: int) -> None:
        from vllm.v1.core.sched.output import KVConnectorBlockState, NewRequestData, SchedulerOutput

        request = self._request(prompt, blocks)
        self._scheduler.get_num_new_matched_tokens(request, 0)
        allocated = self._allocate(blocks + 1)
        block_ids = [block.block_id for block in allocated.blocks[0]]
        for block in range(blocks):
            self._caches.fill(prompt, block, block_ids[block])
        self._scheduler.update_state_after_alloc(request, allocated, 0)
        output = SchedulerOutput.make_empty()
        output.scheduled_new_reqs = [
            NewRequestData(request.request_id, request.all_token_ids, [], None, None, (block_ids,), 0, None)
        ]
        output.num_scheduled_tokens = {request.request_id: request.num_tokens}
        output.kv_connector_block_state = KVConnectorBlockState({request.request_id}, lambda _: (block_ids,), {})
        self._step(output)
        self._finish(request)
        while self._scheduler.has_pending_push_work():
            self._step(SchedulerOutput.make_empty())
            time.sleep(0.01)
        self._block_pool.free_blocks(allocated.blocks[0])

    def lookup(self, prompt: int, blocks: int) -> int:
        request = self._request(prompt, blocks)
        tokens, load_async = self._scheduler.get_num_new_matched_tokens(request, 0)
        assert load_async or tokens == 0
        self._found[prompt] = (request, tokens)
        return tokens // BLOCK_SIZE

    def load(self, prompt: int, blocks: int) -> list[bool]:
        """What lookup() has found."""
        from vllm.v1.core.sched.output import SchedulerOutput

        request, tokens = self._found.pop(prompt)
        assert tokens == blocks * BLOCK_SIZE, "a scheduler loads all that it has found"
        self._caches.clear()
        allocated = self._allocate(blocks)
        self._scheduler.update_state_after_alloc(request, allocated, tokens)
        received: set[str] = set()
        self._step(SchedulerOutput.make_empty(), received)
        end = time.monotonic() + LOAD_SECONDS
        while request.request_id not in received:
            assert time.monotonic() < end, "the load has not ended"
            self._step(SchedulerOutput.make_empty(), received)
            time.sleep(0.01)
        failed = self._worker.get_block_ids_with_load_errors()
        block_ids = [block.block_id for block in allocated.blocks[0]]
        loaded = [block_id not in failed for block_id in block_ids]
        self._caches.check(prompt, {block: block_ids[block] for block in range(blocks) if loaded[block]})
        self._finish(request)
        self._block_pool.free_blocks(allocated.blocks[0])
        return loaded

    def close(self) -> None:
        self._worker.shutdown()

    def _step(self, output: Any, received: set[str] | None = None) -> None:
        """One step of the engine: the scheduler's word to the worker, and the worker's back."""
        from vllm.v1.outputs import KVConnectorOutput

        self._worker.bind_connector_metadata(self._scheduler.build_connector_meta(output))
        self._worker.start_load_kv(None)
        self._worker.wait_for_save()
        results = self._worker.get_transfer_results(output.finished_req_ids)
        if received is not None:
            received |= results.finished_recving
        self._scheduler.update_connector_output(
            KVConnectorOutput(kv_connector_worker_meta=self._worker.build_connector_worker_meta())
        )
        self._worker.clear_connector_metadata()

    def _finish(self, request: Any) -> None:
        from vllm.v1.core.sched.output import SchedulerOutput

        self._scheduler.request_finished_all_groups(request, ([],))
        output = SchedulerOutput.make_empty()
        output.finished_req_ids = {request.request_id}
        self._step(output)

    def _allocate(self, blocks: int) -> Any:
        from vllm.v1.core.kv_cache_manager import KVCacheBlocks

        return KVCacheBlocks((self._block_pool.get_new_blocks(blocks),))

    def _request(self, prompt: int, blocks: int) -> Any:
        """With one token after its last full block, as the last token of a prompt is always computed."""
        tokens = tokens_of(prompt, blocks * BLOCK_SIZE + 1)
        request = SimpleNamespace(
            request_id=f"request-{prompt}-{time.monotonic_ns()}",
            all_token_ids=tokens,
            num_tokens=len(tokens),
            num_prompt_tokens=len(tokens),
            num_computed_tokens=0,
            block_hashes=[],
            mm_features=[],
            lora_request=None,
            cache_salt=None,
            prompt_embeds=None,
        )
        request.block_hashes = self._hash_blocks(request)
        return request


def _vllm_config(transfer_config: dict[str, Any], model: str) -> SimpleNamespace:
    """What the connector asks of a VllmConfig, for one rank."""
    return SimpleNamespace(
        kv_transfer_config=SimpleNamespace(
            engine_id="engine", **{"kv_connector_extra_config": {}, "kv_connector_module_path": None} | transfer_config
        ),
        kv_events_config=None,
        speculative_config=None,
        scheduler_config=SimpleNamespace(disable_hybrid_kv_cache_manager=False),
        parallel_config=SimpleNamespace(
            rank=0,
            world_size=1,
            data_parallel_index=0,
            pipeline_parallel_size=1,
            prefill_context_parallel_size=1,
            decode_context_parallel_size=1,
        ),
        cache_config=SimpleNamespace(
            block_size=BLOCK_SIZE, num_gpu_blocks=BLOCKS, prefix_match_unit=None, enable_prefix_caching=True
        ),
        model_config=SimpleNamespace(
            model=model, get_num_layers=lambda _: LAYERS, get_total_num_kv_heads=lambda: HEADS
        ),
    )


def start(arguments: list[str]) -> Vllm:
    install_torch()
    install_vllm()
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--kv-transfer-config", type=json.loads, required=True)
    given, _ = parser.parse_known_args(arguments)
    return Vllm(given.kv_transfer_config, given.model)
