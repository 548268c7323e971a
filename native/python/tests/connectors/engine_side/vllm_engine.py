# SPDX-License-Identifier: Apache-2.0
"""vLLM's MooncakeStoreConnector, both of its roles, in the way of vLLM's scheduler and model runner."""

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
    """Tensors of each layer, [blocks, ...]: one of keys and values together, or `split` one of each."""

    def __init__(self, split: bool = False) -> None:
        shape = (BLOCKS, *(() if split else (2,)), BLOCK_SIZE, HEADS, WIDTH)
        a_layer = 2 if split else 1
        self._block_bytes = 2 * BLOCK_SIZE * HEADS * WIDTH * FLOAT16.itemsize // a_layer
        self._memory = [
            numpy.full((BLOCKS, self._block_bytes), UNTOUCHED, numpy.uint8) for _ in range(LAYERS * a_layer)
        ]
        views = [Tensor(memory.view(FLOAT16.numpy_type).reshape(shape), FLOAT16) for memory in self._memory]
        self.tensors: dict[str, Any] = {
            f"model.layers.{layer}.self_attn": tuple(views[2 * layer : 2 * layer + 2]) if split else views[layer]
            for layer in range(LAYERS)
        }

    def fill(self, prompt: int, block: int, block_id: int) -> None:
        for memory, content in zip(self._memory, self._content(prompt, block), strict=True):
            memory[block_id] = content

    def clear(self) -> None:
        for memory in self._memory:
            memory[:] = UNTOUCHED

    def check(self, prompt: int, block_ids: dict[int, int]) -> None:
        """That these blocks of the prompt are where `block_ids` says, and nothing is anywhere else."""
        for index, memory in enumerate(self._memory):
            expected = numpy.full_like(memory, UNTOUCHED)
            for block, block_id in block_ids.items():
                expected[block_id] = self._content(prompt, block)[index]
            assert (memory == expected).all(), f"tensor {index}"

    def _content(self, prompt: int, block: int) -> numpy.ndarray:
        return block_bytes(prompt, block, len(self._memory) * self._block_bytes).reshape(len(self._memory), -1)


class Vllm:
    def __init__(self, config: SimpleNamespace, caches: KvCaches) -> None:
        from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory
        from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorRole
        from vllm.utils.hashing import sha256
        from vllm.v1.core.block_pool import BlockPool
        from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
        from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec

        self._caches = caches
        spec = FullAttentionSpec(block_size=BLOCK_SIZE, num_kv_heads=HEADS, head_size=WIDTH, dtype=FLOAT16)
        groups = [KVCacheGroupSpec(list(caches.tensors), spec)]
        kv_cache_config = KVCacheConfig(num_blocks=BLOCKS, kv_cache_tensors=[], kv_cache_groups=groups)
        init_none_hash(sha256)
        self._hash_blocks = get_request_block_hasher(BLOCK_SIZE, sha256)
        self._block_pool = BlockPool(BLOCKS, enable_caching=True, hash_block_size=BLOCK_SIZE)
        self._worker = KVConnectorFactory.create_connector(config, KVConnectorRole.WORKER, kv_cache_config)
        self._worker.register_kv_caches(caches.tensors)
        self._scheduler = KVConnectorFactory.create_connector(config, KVConnectorRole.SCHEDULER, kv_cache_config)
        self._scheduler.bind_gpu_block_pool(self._block_pool)
        self._found: dict[int, tuple[Any, int, bool]] = {}

    def save(self, prompt: int, blocks: int) -> None:
        request = self._request(prompt, blocks)
        allocated = self._allocate(blocks + 1)
        for block in range(blocks):
            self._caches.fill(prompt, block, allocated.blocks[0][block].block_id)
        self._scheduler.get_num_new_matched_tokens(request, 0)
        self._scheduler.update_state_after_alloc(request, allocated, 0)
        self._step(self._scheduled(request, allocated, 0))
        self._finish(request)
        # Older connectors wait for their stores in the step.
        is_storing = getattr(self._scheduler, "has_pending_push_work", lambda: False)
        while is_storing():
            self._step(self._idle())
            time.sleep(0.01)
        self._block_pool.free_blocks(allocated.blocks[0])

    def lookup(self, prompt: int, blocks: int) -> int:
        request = self._request(prompt, blocks)
        tokens, load_async = self._scheduler.get_num_new_matched_tokens(request, 0)
        self._found[prompt] = (request, tokens, load_async)
        return tokens // BLOCK_SIZE

    def load(self, prompt: int, blocks: int) -> list[bool]:
        """What lookup() has found: beside the steps where the connector says so, else in the step that needs it."""
        request, tokens, load_async = self._found.pop(prompt)
        assert tokens == blocks * BLOCK_SIZE, "a scheduler loads all that it has found"
        self._caches.clear()
        allocated = self._allocate(blocks + (not load_async))
        self._scheduler.update_state_after_alloc(request, allocated, tokens)
        if load_async:
            end = time.monotonic() + LOAD_SECONDS
            while request.request_id not in self._step(self._idle()):
                assert time.monotonic() < end, "the load has not ended"
                time.sleep(0.01)
        else:
            self._step(self._scheduled(request, allocated, tokens))
        failed = self._worker.get_block_ids_with_load_errors()
        block_ids = {block: allocated.blocks[0][block].block_id for block in range(blocks)}
        loaded = {block: block_id for block, block_id in block_ids.items() if block_id not in failed}
        self._caches.check(prompt, loaded)
        self._finish(request)
        self._block_pool.free_blocks(allocated.blocks[0])
        return [block in loaded for block in range(blocks)]

    def close(self) -> None:
        self._worker.shutdown()

    def _step(self, output: Any) -> set[str]:
        """One step of the engine: the scheduler's word to the worker, and the worker's back. Which requests were loaded."""
        from vllm.v1.outputs import KVConnectorOutput

        self._worker.bind_connector_metadata(self._scheduler.build_connector_meta(output))
        self._worker.start_load_kv(SimpleNamespace())
        self._worker.wait_for_save()
        _, received = self._worker.get_finished(output.finished_req_ids)
        self._scheduler.update_connector_output(
            KVConnectorOutput(kv_connector_worker_meta=self._worker.build_connector_worker_meta())
        )
        self._worker.clear_connector_metadata()
        return received

    def _idle(self) -> Any:
        from vllm.v1.core.sched.output import SchedulerOutput

        output = SchedulerOutput.make_empty()
        output.preempted_req_ids = set()
        return output

    def _scheduled(self, request: Any, allocated: Any, computed: int) -> Any:
        """A step that computes the request's tokens after the first `computed`."""
        from vllm.v1.core.sched import output as outputs

        block_ids = allocated.get_block_ids()
        output = self._idle()
        new = outputs.NewRequestData(
            req_id=request.request_id,
            prompt_token_ids=request.all_token_ids,
            mm_features=[],
            sampling_params=None,
            pooling_params=None,
            block_ids=block_ids,
            num_computed_tokens=computed,
            lora_request=None,
        )
        output.scheduled_new_reqs = [new]
        output.num_scheduled_tokens = {request.request_id: request.num_tokens - computed}
        if hasattr(outputs, "KVConnectorBlockState"):
            output.kv_connector_block_state = outputs.KVConnectorBlockState(
                {request.request_id}, lambda _: block_ids, {}
            )
        return output

    def _finish(self, request: Any) -> None:
        self._scheduler.request_finished_all_groups(request, ([],))
        output = self._idle()
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
            prompt_token_ids=tokens,
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


class TransferConfig(SimpleNamespace):
    def get_from_extra_config(self, name: str, default: object) -> object:
        return self.kv_connector_extra_config.get(name, default)


def config_of(arguments: list[str]) -> SimpleNamespace:
    """What the connectors ask of the VllmConfig that vLLM makes of a command line, for one rank."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--kv-transfer-config", type=json.loads, required=True)
    given, _ = parser.parse_known_args(arguments)
    defaults = {"engine_id": "engine", "kv_connector_extra_config": {}, "kv_connector_module_path": None}
    return SimpleNamespace(
        kv_transfer_config=TransferConfig(**defaults | given.kv_transfer_config),
        kv_events_config=None,
        speculative_config=None,
        scheduler_config=SimpleNamespace(disable_hybrid_kv_cache_manager=False),
        parallel_config=SimpleNamespace(
            rank=0,
            world_size=1,
            data_parallel_index=0,
            data_parallel_rank=0,
            tensor_parallel_size=1,
            pipeline_parallel_size=1,
            prefill_context_parallel_size=1,
            decode_context_parallel_size=1,
        ),
        cache_config=SimpleNamespace(
            block_size=BLOCK_SIZE,
            hash_block_size=None,
            num_gpu_blocks=BLOCKS,
            prefix_match_unit=None,
            enable_prefix_caching=True,
        ),
        model_config=SimpleNamespace(
            model=given.model,
            max_model_len=BLOCKS * BLOCK_SIZE,
            hf_text_config=SimpleNamespace(num_hidden_layers=LAYERS),
            get_num_layers=lambda _: LAYERS,
            get_total_num_kv_heads=lambda: HEADS,
        ),
    )


def start(arguments: list[str]) -> Vllm:
    install_torch()
    install_vllm()
    return Vllm(config_of(arguments), KvCaches())
