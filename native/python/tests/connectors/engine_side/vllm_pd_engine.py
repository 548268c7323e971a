# SPDX-License-Identifier: Apache-2.0
"""vLLM's MooncakeConnector, by which a decoding engine gets the blocks of a prefilling one: a process for each of the two."""

from __future__ import annotations

import contextlib
import copy
import multiprocessing
import multiprocessing.connection
import os
import socket
import time
from types import SimpleNamespace
from typing import Any

from ranks import RANKS, Rank, Shape
from stand_in import stand_in, unused
from tensors import install_torch
from vllm_engine import BLOCKS, LOAD_SECONDS, KvCaches, TransferConfig, Worker, config_of, given_by, spec_of
from vllm_stand_ins import install_vllm

LOCALHOST = "127.0.0.1"
POLL_SECONDS = 0.01
SENT, RECEIVED = 0, 1  # of what a step returns


def _backends(*_: object) -> list[Any]:
    return [SimpleNamespace(get_name=lambda: "FLASH_ATTN", full_cls_name=lambda: "FLASH_ATTN")]


def install_pd() -> None:
    """What MooncakeConnector imports beside the store connector. Its server of addresses is vLLM's own, with uvicorn."""
    import httpx

    stand_in("huggingface_hub")
    stand_in("huggingface_hub.utils", httpx=httpx)
    stand_in("torch.accelerator", current_device_index=lambda: 0)
    platform = SimpleNamespace(register_custom_kv_cache_specs=lambda _: None, set_device=lambda _: None)
    stand_in("vllm.platforms", current_platform=platform)
    stand_in(
        "vllm.config",
        get_current_vllm_config_or_none=lambda: None,
        get_layers_from_vllm_config=lambda *_: {},
        **unused("KVTransferConfig", "ModelConfig", "ParallelConfig", "VllmConfig", "set_current_vllm_config"),
    )
    stand_in(
        "vllm.distributed.parallel_state",
        get_pp_group=lambda: SimpleNamespace(rank_in_group=0, world_size=1),
        get_tensor_model_parallel_rank=lambda: RANKS.tp().rank_in_group,
        get_tensor_model_parallel_world_size=lambda: RANKS.tp().world_size,
    )
    stand_in("vllm.model_executor.layers.attention_layer_base", **unused("AttentionLayerBase"))
    stand_in("vllm.model_executor.models.utils", extract_layer_index=lambda name: int(name.split(".")[2]))
    stand_in("vllm.v1.request", RequestStatus=SimpleNamespace(FINISHED_LENGTH_CAPPED="length"), **unused("Request"))
    stand_in("vllm.v1.metrics.utils", **unused("create_metric_per_engine"))
    stand_in("vllm.v1.worker.utils", select_common_block_size=lambda size, *_: size)
    from vllm.utils import torch_utils  # type: ignore[import-not-found]

    torch_utils.async_tensor_h2d = None
    from vllm.distributed.kv_transfer.kv_connector import utils  # type: ignore[import-not-found]

    utils.get_current_attn_backends = _backends


class Instance:
    """One engine of the two: a scheduler and a worker for each rank."""

    def __init__(self, role: str, tp: int, arguments: list[str], bootstrap_port: int) -> None:
        os.environ |= {"VLLM_HOST_IP": LOCALHOST, "VLLM_MOONCAKE_BOOTSTRAP_PORT": str(bootstrap_port)}
        install_torch()
        install_vllm()
        install_pd()
        from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorRole
        from vllm.distributed.kv_transfer.kv_connector.v1.mooncake.mooncake_connector import MooncakeConnector
        from vllm.v1.core.block_pool import BlockPool
        from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheGroupSpec

        given, model, transfer = given_by(arguments, pcp_deals_out=False)
        shape = Shape(tp=tp, heads=given.heads, latent=given.latent, block_size=given.block_size)
        extra = {"mooncake_protocol": "tcp", **transfer.kv_connector_extra_config}
        transfer = TransferConfig(engine_id=role, kv_role=role, kv_connector_extra_config=extra)
        self._shape = shape
        self.latent = shape.latent
        self._pool = BlockPool(BLOCKS, enable_caching=False, hash_block_size=shape.block_size)
        self.workers: list[Worker] = []
        for rank in shape.ranks():
            caches = KvCaches(rank, split=False, memory=bytearray, heads_first=True)
            groups = [KVCacheGroupSpec(list(caches.tensors), spec_of(shape, rank))]
            kv_cache_config = KVCacheConfig(num_blocks=BLOCKS, kv_cache_tensors=[], kv_cache_groups=groups)
            with RANKS.of(rank):
                config = _config_of(rank, model, transfer)
                connector = MooncakeConnector(config, KVConnectorRole.WORKER, kv_cache_config)
                connector.register_kv_caches(caches.tensors)
            self.workers.append(Worker(rank, connector, caches))
        self.scheduler = MooncakeConnector(config, KVConnectorRole.SCHEDULER, kv_cache_config)

    def allocate(self, blocks: int) -> Any:
        from vllm.v1.core.kv_cache_manager import KVCacheBlocks

        return KVCacheBlocks((self._pool.get_new_blocks(blocks),))

    def free(self, allocated: Any) -> None:
        self._pool.free_blocks(allocated.blocks[0])

    def request(self, prompt: int, blocks: int, parameters: dict[str, Any]) -> Any:
        tokens = [prompt] * (blocks * self._shape.block_size)
        return SimpleNamespace(
            request_id=f"{prompt}-{time.monotonic_ns()}",
            prompt_token_ids=tokens,
            num_prompt_tokens=len(tokens),
            kv_transfer_params=parameters,
            status="length",
        )

    def step(self) -> tuple[dict[str, set[Rank]], dict[str, set[Rank]]]:
        """One step of the engine: which requests each rank has sent, and which it has received."""
        said = self.scheduler.build_connector_meta(SimpleNamespace())
        sent: dict[str, set[Rank]] = {}
        received: dict[str, set[Rank]] = {}
        for worker in self.workers:
            with RANKS.of(worker.rank):
                worker.connector.bind_connector_metadata(copy.deepcopy(said))
                worker.connector.start_load_kv(SimpleNamespace())
                results = worker.connector.get_transfer_results(set())
                worker.connector.clear_connector_metadata()
            assert not results.failed_recving
            for request_id in results.finished_sending:
                sent.setdefault(request_id, set()).add(worker.rank)
            for request_id in results.finished_recving:
                received.setdefault(request_id, set()).add(worker.rank)
        return sent, received

    def until(self, request_id: str, which: int, of: int) -> None:
        """Steps until so many ranks have SENT or RECEIVED that request."""
        done: set[Rank] = set()
        end = time.monotonic() + LOAD_SECONDS
        while len(done := done | self.step()[which].get(request_id, set())) < of:
            assert time.monotonic() < end, f"it has ended on {done} alone"
            time.sleep(POLL_SECONDS)


def _config_of(rank: Rank, model: str, transfer: TransferConfig) -> Any:
    config = config_of(rank, model, transfer)
    parallel = config.parallel_config
    parallel.data_parallel_rank_local, parallel.local_engines_only = 0, True
    return config


def _prefill(pipe: multiprocessing.connection.Connection, tp: int, arguments: list[str], port: int) -> None:
    """The process of the prefilling engine: says that it is ready, and computes the prompts that it is told."""
    instance = Instance("kv_producer", tp, arguments, port)
    pipe.send("ready")
    while command := pipe.recv():
        prompt, blocks, transfer_id = command
        request = instance.request(prompt, blocks, {"do_remote_decode": True, "transfer_id": transfer_id})
        allocated = instance.allocate(blocks)
        block_ids = [block.block_id for block in allocated.blocks[0]]
        assert instance.scheduler.get_num_new_matched_tokens(request, 0) == (0, False)
        instance.scheduler.update_state_after_alloc(request, allocated, 0)
        instance.step()
        for worker in instance.workers:
            for block, block_id in enumerate(block_ids):
                worker.caches.fill(prompt, block, block_id)
        keeps, _ = instance.scheduler.request_finished_all_groups(request, (block_ids,))
        assert keeps, "blocks that are to be sent are freed later"
        instance.step()
        pipe.send("computed")
        # Of latents, which each rank has, one rank is asked for its copy; the others would keep theirs until a time limit.
        instance.until(request.request_id, SENT, of=1 if instance.latent else len(instance.workers))
        instance.free(allocated)
        pipe.send("sent")


class PrefillAndDecode:
    """The decoding engine, in this process, and the prefilling one beside it."""

    def __init__(self, arguments: list[str]) -> None:
        prefill_tp = int(os.environ["PREFILL_TP"])
        with contextlib.closing(socket.create_server((LOCALHOST, 0))) as free:
            port = free.getsockname()[1]
        self._bootstrap = f"http://{LOCALHOST}:{port}"
        self._pipe, theirs = multiprocessing.Pipe()
        spawn = multiprocessing.get_context("spawn")
        self._prefill = spawn.Process(target=_prefill, args=(theirs, prefill_tp, arguments, port), daemon=True)
        self._prefill.start()
        assert self._said() == "ready"
        self._decode = Instance("kv_consumer", int(os.environ["DECODE_TP"]), arguments, port)

    def transfer(self, prompt: int, blocks: int) -> bool:
        """The prefilling engine computes a prompt, and the decoding one gets its blocks; whether all came. Memory is compared
        byte for byte."""
        decode = self._decode
        transfer_id = f"transfer-{prompt}"
        self._pipe.send((prompt, blocks, transfer_id))
        assert self._said() == "computed"
        parameters = {
            "do_remote_prefill": True,
            "remote_engine_id": "kv_producer",
            "remote_bootstrap_addr": self._bootstrap,
            "transfer_id": transfer_id,
        }
        request = decode.request(prompt, blocks, parameters)
        tokens, load_async = decode.scheduler.get_num_new_matched_tokens(request, 0)
        assert tokens == len(request.prompt_token_ids) and load_async
        allocated = decode.allocate(blocks)
        for worker in decode.workers:
            worker.caches.clear()
        decode.scheduler.update_state_after_alloc(request, allocated, tokens)
        decode.until(request.request_id, RECEIVED, of=len(decode.workers))
        failed = set().union(*(worker.connector.get_block_ids_with_load_errors() for worker in decode.workers))
        if not failed:
            block_ids = {block: it.block_id for block, it in enumerate(allocated.blocks[0])}
            for worker in decode.workers:
                worker.caches.check(prompt, block_ids, set())
        assert self._said() == "sent"
        decode.free(allocated)
        return not failed

    def close(self) -> None:
        self._pipe.send(None)
        self._prefill.join(LOAD_SECONDS)
        for worker in self._decode.workers:
            worker.connector.connector_worker.shutdown()

    def _said(self) -> str:
        assert self._pipe.poll(LOAD_SECONDS), "the prefilling engine says nothing"
        return self._pipe.recv()


def start(arguments: list[str]) -> PrefillAndDecode:
    return PrefillAndDecode(arguments)
