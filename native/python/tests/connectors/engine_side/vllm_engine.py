# SPDX-License-Identifier: Apache-2.0
"""vLLM's MooncakeStoreConnector, both of its roles, in the way of vLLM's scheduler and model runner."""

from __future__ import annotations

import argparse
import copy
import functools
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy
from blocks import UNTOUCHED, block_bytes, tokens_of
from ranks import RANKS, Rank, Shape
from tensors import FLOAT16, Tensor, install_torch
from vllm_stand_ins import install_connector_base, install_vllm

LAYERS, WIDTH, BLOCKS = 3, 128, 64  # values above 4 KiB, which go by CANN where it is
MODEL_TOKENS = BLOCKS * Shape().block_size
LOAD_SECONDS = 30


@functools.cache
def _content(prompt: int, tensor: int, head: int, width: int) -> numpy.ndarray:
    """Bytes [token, ...] that any rank of any engine has for one head in one of its tensors."""
    return block_bytes(prompt, tensor << 16 | head, MODEL_TOKENS * width).reshape(MODEL_TOKENS, width)


class KvCaches:
    """One rank's tensors of each layer: one of keys and values together, or `split` one of each. Of latents (MLA) `split` has two
    of different widths. In memory they are [block, token, head, ...], or `heads_first` [block, head, token, ...]; one of both is
    shown as vLLM does, heads first."""

    def __init__(self, rank: Rank, split: bool, memory: Callable[[int], Any], heads_first: bool = False) -> None:
        """`memory` makes a buffer of so many bytes for one tensor."""
        shape = rank.shape
        self._rank = rank
        both = [WIDTH, WIDTH // 4 if shape.latent else WIDTH]
        widths = (both if split else [WIDTH if shape.latent else sum(both)]) * LAYERS
        self._heads_first = heads_first
        rows = (len(rank.heads), shape.block_size) if heads_first else (shape.block_size, len(rank.heads))
        tensors = [(BLOCKS, *rows, width) for width in widths]
        arrays = [
            numpy.frombuffer(memory(math.prod(it) * FLOAT16.itemsize), FLOAT16.numpy_type).reshape(it) for it in tensors
        ]
        self._memory = [it.view(numpy.uint8).reshape(BLOCKS, -1) for it in arrays]
        self._widths = [width * FLOAT16.itemsize for width in widths]
        self.clear()
        views = [Tensor(it if split or heads_first else it.swapaxes(1, 2), FLOAT16) for it in arrays]
        self.tensors: dict[str, Any] = {
            f"model.layers.{layer}.self_attn": tuple(views[2 * layer : 2 * layer + 2]) if split else views[layer]
            for layer in range(LAYERS)
        }

    def fill(self, prompt: int, block: int, block_id: int) -> None:
        for index, memory in enumerate(self._memory):
            memory[block_id] = self._block(index, prompt, block)

    def clear(self) -> None:
        for memory in self._memory:
            memory[:] = UNTOUCHED

    def check(self, prompt: int, block_ids: dict[int, int], spoilt: set[int]) -> None:
        """That these blocks of the prompt are where `block_ids` says, and nothing is anywhere else; but what is in the blocks
        `spoilt` will be computed."""
        for index, memory in enumerate(self._memory):
            expected = numpy.full_like(memory, UNTOUCHED)
            for block, block_id in block_ids.items():
                expected[block_id] = self._block(index, prompt, block)
            for block_id in spoilt:
                expected[block_id] = memory[block_id]
            assert (memory == expected).all(), f"rank {self._rank.number}, tensor {index}"

    def _block(self, index: int, prompt: int, block: int) -> numpy.ndarray:
        tokens = self._rank.tokens(block)
        heads = [_content(prompt, index, head, self._widths[index])[tokens] for head in self._rank.heads]
        by_head = numpy.array(heads)  # [head, token, ...]
        return (by_head if self._heads_first else by_head.swapaxes(0, 1)).reshape(-1)


@dataclass(frozen=True)
class Worker:
    """One rank's half of the connector, and the memory that it moves."""

    rank: Rank
    connector: Any
    caches: KvCaches


class Vllm:
    """One scheduler and a worker for each rank, all in one process."""

    split_caches = False
    # Where tensors lie: memory of so many bytes.
    memory = staticmethod(bytearray)
    # vLLM 0.33.0 has all tokens on each rank of prefill context parallelism.
    pcp_deals_out = False

    def __init__(self, arguments: list[str]) -> None:
        from vllm.distributed.kv_transfer.kv_connector.factory import KVConnectorFactory
        from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorRole
        from vllm.utils.hashing import sha256
        from vllm.v1.core.block_pool import BlockPool
        from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash
        from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheGroupSpec

        shape, model, transfer = given_by(arguments, self.pcp_deals_out)
        self._block_tokens = shape.tokens_of_block
        init_none_hash(sha256)
        self._hash_blocks = get_request_block_hasher(self._block_tokens, sha256)
        self._block_pool = BlockPool(BLOCKS, enable_caching=True, hash_block_size=self._block_tokens)
        self._workers: list[Worker] = []
        for rank in shape.ranks():
            caches = KvCaches(rank, self.split_caches, self.memory)
            groups = [KVCacheGroupSpec(list(caches.tensors), spec_of(shape, rank))]
            kv_cache_config = KVCacheConfig(num_blocks=BLOCKS, kv_cache_tensors=[], kv_cache_groups=groups)
            with RANKS.of(rank):
                self.start_process()
                config = config_of(rank, model, transfer)
                connector = KVConnectorFactory.create_connector(config, KVConnectorRole.WORKER, kv_cache_config)
                connector.register_kv_caches(caches.tensors)
            self._workers.append(Worker(rank, connector, caches))
        # The scheduler is told the configuration of the first rank.
        config = config_of(shape.ranks()[0], model, transfer)
        self._scheduler = KVConnectorFactory.create_connector(config, KVConnectorRole.SCHEDULER, kv_cache_config)
        self._scheduler.bind_gpu_block_pool(self._block_pool)
        self._found: dict[int, tuple[Any, int, bool]] = {}

    def start_process(self) -> None:
        """Before each worker: what its process would have of its own is as new."""

    def save(self, prompt: int, blocks: int) -> None:
        request = self._request(prompt, blocks)
        allocated = self._allocate(blocks + 1)
        for worker in self._workers:
            for block in range(blocks):
                worker.caches.fill(prompt, block, allocated.blocks[0][block].block_id)
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
        return tokens // self._block_tokens

    def load(self, prompt: int, blocks: int, spoils: bool = False) -> list[bool]:
        """What lookup() has found: beside the steps where the connector says so, else in the step that needs it. A block is
        loaded when each rank has its part of it. A rank that fails leaves its part of the block untouched, or `spoils` it."""
        request, tokens, load_async = self._found.pop(prompt)
        assert tokens == blocks * self._block_tokens, "a scheduler loads all that it has found"
        for worker in self._workers:
            worker.caches.clear()
        allocated = self._allocate(blocks + (not load_async))
        self._scheduler.update_state_after_alloc(request, allocated, tokens)
        if load_async:
            waiting = {worker.rank for worker in self._workers}
            end = time.monotonic() + LOAD_SECONDS
            while waiting := waiting - self._step(self._idle()).get(request.request_id, set()):
                assert time.monotonic() < end, f"the load has not ended on {waiting}"
                time.sleep(0.01)
        else:
            self._step(self._scheduled(request, allocated, tokens))
        block_ids = {block: allocated.blocks[0][block].block_id for block in range(blocks)}
        loaded = set(block_ids)
        for worker in self._workers:
            failed = worker.connector.get_block_ids_with_load_errors()
            here = {block: block_id for block, block_id in block_ids.items() if block_id not in failed}
            worker.caches.check(prompt, here, failed if spoils else set())
            loaded &= set(here)
        self._finish(request)
        self._block_pool.free_blocks(allocated.blocks[0])
        return [block in loaded for block in range(blocks)]

    def close(self) -> None:
        for worker in self._workers:
            worker.connector.shutdown()

    def _step(self, output: Any) -> dict[str, set[Rank]]:
        """One step of the engine: the scheduler's word to the workers, and theirs back. Which requests were loaded, and where."""
        from vllm.v1.outputs import KVConnectorOutput

        said = self._scheduler.build_connector_meta(output)
        received: dict[str, set[Rank]] = {}
        answer = None
        for rank, connector, caches in ((it.rank, it.connector, it.caches) for it in self._workers):
            with RANKS.of(rank):
                # A worker's process has a copy of its own.
                connector.bind_connector_metadata(copy.deepcopy(said))
                connector.start_load_kv(SimpleNamespace())
                for layer, tensors in caches.tensors.items() if output.num_scheduled_tokens else ():
                    connector.wait_for_layer_load(layer)
                    connector.save_kv_layer(layer, tensors, None)
                connector.wait_for_save()
                _, loaded = connector.get_finished(output.finished_req_ids)
                for request_id in loaded or ():
                    received.setdefault(request_id, set()).add(rank)
                if word := connector.build_connector_worker_meta():
                    answer = word if answer is None else answer.aggregate(word)
                connector.clear_connector_metadata()
        self._scheduler.update_connector_output(KVConnectorOutput(kv_connector_worker_meta=answer))
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
        tokens = tokens_of(prompt, blocks * self._block_tokens + 1)
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


def given_by(arguments: list[str], pcp_deals_out: bool) -> tuple[Shape, str, TransferConfig]:
    """What a command line says of the shape, the model, and the connector; the model's own configuration by --hf-overrides."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--kv-transfer-config", type=json.loads, required=True)
    parser.add_argument("--hf-overrides", type=json.loads, default={})
    for name in ("tensor-parallel", "prefill-context-parallel", "decode-context-parallel"):
        parser.add_argument(f"--{name}-size", type=int, default=1)
    parser.add_argument("--block-size", type=int, default=Shape().block_size)
    given, _ = parser.parse_known_args(arguments)
    latent = "kv_lora_rank" in given.hf_overrides
    shape = Shape(
        tp=given.tensor_parallel_size,
        pcp=given.prefill_context_parallel_size,
        dcp=given.decode_context_parallel_size,
        heads=1 if latent else given.hf_overrides.get("num_key_value_heads", Shape().heads),
        latent=latent,
        block_size=given.block_size,
        pcp_deals_out=pcp_deals_out,
    )
    defaults = {"engine_id": "engine", "kv_connector_extra_config": {}, "kv_connector_module_path": None}
    return shape, given.model, TransferConfig(**defaults | given.kv_transfer_config)


def spec_of(shape: Shape, rank: Rank) -> Any:
    from vllm.v1.kv_cache_interface import FullAttentionSpec, MLAAttentionSpec

    kind = MLAAttentionSpec if shape.latent else FullAttentionSpec
    return kind(block_size=shape.block_size, num_kv_heads=len(rank.heads), head_size=WIDTH, dtype=FLOAT16)


def config_of(rank: Rank, model: str, transfer: TransferConfig) -> SimpleNamespace:
    """What the connectors ask of the VllmConfig that a rank's process has."""
    shape = rank.shape
    return SimpleNamespace(
        kv_transfer_config=transfer,
        kv_events_config=None,
        speculative_config=None,
        scheduler_config=SimpleNamespace(disable_hybrid_kv_cache_manager=False),
        parallel_config=SimpleNamespace(
            rank=rank.number,
            world_size=shape.tp * shape.pcp,
            data_parallel_index=0,
            data_parallel_rank=0,
            tensor_parallel_size=shape.tp,
            pipeline_parallel_size=1,
            prefill_context_parallel_size=shape.pcp,
            decode_context_parallel_size=shape.dcp,
        ),
        cache_config=SimpleNamespace(
            block_size=shape.block_size,
            hash_block_size=None,
            num_gpu_blocks=BLOCKS,
            prefix_match_unit=None,
            enable_prefix_caching=True,
            get_resolved_kv_cache_layout=_layout,
        ),
        model_config=SimpleNamespace(
            model=model,
            use_mla=shape.latent,
            max_model_len=MODEL_TOKENS,
            hf_text_config=SimpleNamespace(num_hidden_layers=LAYERS),
            get_num_layers=lambda _: LAYERS,
            get_total_num_kv_heads=lambda: shape.heads,
        ),
    )


def _layout() -> Any:
    """What KvCaches has: layer, block, token, head, content."""
    from vllm.v1.kv_cache_layout import KVCacheLayout

    return KVCacheLayout.LBNHC


def start(arguments: list[str]) -> Vllm:
    install_torch()
    install_vllm()
    install_connector_base()
    return Vllm(arguments)
