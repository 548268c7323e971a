# SPDX-License-Identifier: Apache-2.0
"""vLLM's MooncakeConnector, by which a decoding engine gets the blocks of a prefilling one: a process for each of the two."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import json
import math
import multiprocessing
import multiprocessing.connection
import os
import socket
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from ranks import RANKS, Rank
from stand_in import stand_in, unused
from tensors import install_torch
from vllm_engine import BLOCKS, LOAD_SECONDS, KvCaches, TransferConfig, Worker, config_of, given_by, spec_of
from vllm_stand_ins import install_connector_base, install_vllm

LOCALHOST = "127.0.0.1"
POLL_SECONDS = 0.01
SENT, RECEIVED = 0, 1  # of what a step returns
PRODUCER, CONSUMER = "kv_producer", "kv_consumer"

# Of each role what Shape has: tp, pcp, dcp.
Shapes = dict[str, dict[str, int]]


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

    split_caches = False
    # Where tensors lie: memory of so many bytes.
    memory: Callable[[int], Any] = staticmethod(bytearray)

    def __init__(self, role: str, shapes: Shapes, arguments: list[str], port: int) -> None:
        """The prefilling engine is asked at `port` where its blocks are."""
        os.environ["VLLM_HOST_IP"] = LOCALHOST
        self.install(port)
        from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorRole
        from vllm.v1.core.block_pool import BlockPool
        from vllm.v1.kv_cache_interface import KVCacheConfig, KVCacheGroupSpec

        given, model, transfer = given_by(arguments, pcp_deals_out=False)
        shape = dataclasses.replace(given, **shapes[role], pcp_deals_out=True, deals_blocks=True)
        extra = {
            name: {"tp_size": shapes[of]["tp"], "dp_size": 1}
            for name, of in (("prefill", PRODUCER), ("decode", CONSUMER))
        }
        extra |= {"mooncake_protocol": "tcp", **transfer.kv_connector_extra_config}
        transfer = TransferConfig(engine_id=role, kv_role=role, kv_port=port, kv_connector_extra_config=extra)
        self.shape = shape
        # Of latents, and of a head that several ranks have, one rank is asked for its copy where there is no context parallelism;
        # the others would keep theirs until a time limit.
        copies = shape.tp if shape.latent else max(1, shape.tp // shape.heads)
        self.senders = shape.tp // copies if shape.parts == 1 else shape.tp * shape.pcp
        self._pool = BlockPool(BLOCKS, enable_caching=False, hash_block_size=shape.block_size)
        self.workers: list[Worker] = []
        for rank in shape.ranks():
            caches = KvCaches(rank, self.split_caches, self.memory, heads_first=not self.split_caches)
            groups = [KVCacheGroupSpec(list(caches.tensors), spec_of(shape, rank))]
            kv_cache_config = KVCacheConfig(num_blocks=BLOCKS, kv_cache_tensors=[], kv_cache_groups=groups)
            with RANKS.of(rank):
                kind = self.connector()
                config = self.config_of(rank, model, transfer)
                if not self.workers:
                    self.scheduler = kind(config, KVConnectorRole.SCHEDULER, kv_cache_config)
                connector = kind(config, KVConnectorRole.WORKER, kv_cache_config)
                connector.register_kv_caches(caches.tensors)
            self.workers.append(Worker(rank, connector, caches))

    def install(self, port: int) -> None:
        os.environ["VLLM_MOONCAKE_BOOTSTRAP_PORT"] = str(port)
        install_torch()
        install_vllm()
        install_connector_base()
        install_pd()

    def connector(self) -> Any:
        """Before each worker is made: the class, and what its process would have of its own is as new."""
        from vllm.distributed.kv_transfer.kv_connector.v1.mooncake.mooncake_connector import MooncakeConnector

        return MooncakeConnector

    def config_of(self, rank: Rank, model: str, transfer: TransferConfig) -> Any:
        config = config_of(rank, model, transfer)
        parallel = config.parallel_config
        parallel.data_parallel_rank_local, parallel.local_engines_only = 0, True
        return config

    def done(self, connector: Any) -> tuple[set[str], set[str]]:
        """What a worker has sent and received since it was asked before."""
        results = connector.get_transfer_results(set())
        assert not results.failed_recving
        return results.finished_sending, results.finished_recving

    def shutdown(self) -> None:
        for worker in self.workers:
            worker.connector.connector_worker.shutdown()

    def allocate(self, blocks: int) -> Any:
        from vllm.v1.core.kv_cache_manager import KVCacheBlocks

        return KVCacheBlocks((self._pool.get_new_blocks(-(-blocks // self.shape.parts)),))

    def free(self, allocated: Any) -> None:
        self._pool.free_blocks(allocated.blocks[0])

    def request(self, prompt: int, blocks: int, parameters: dict[str, Any]) -> Any:
        tokens = [prompt] * (blocks * self.shape.block_size)
        return SimpleNamespace(
            request_id=f"{prompt}-{time.monotonic_ns()}",
            prompt_token_ids=tokens,
            num_prompt_tokens=len(tokens),
            kv_transfer_params=parameters,
            output_token_ids=[prompt],
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
                ended = self.done(worker.connector)
                worker.connector.clear_connector_metadata()
            for requests, by_rank in zip(ended, (sent, received), strict=True):
                for request_id in requests:
                    by_rank.setdefault(request_id, set()).add(worker.rank)
        return sent, received

    def until(self, request_id: str, which: int, of: int) -> None:
        """Steps until so many ranks have SENT or RECEIVED that request."""
        done: set[Rank] = set()
        end = time.monotonic() + LOAD_SECONDS
        while len(done := done | self.step()[which].get(request_id, set())) < of:
            assert time.monotonic() < end, f"it has ended on {done} alone"
            time.sleep(POLL_SECONDS)


def prefill(
    pipe: multiprocessing.connection.Connection,
    kind: type[Instance],
    shapes: Shapes,
    arguments: list[str],
    port: int,
) -> None:
    """The process of the prefilling engine: says that it is ready, and computes the prompts that it is told."""
    instance = kind(PRODUCER, shapes, arguments, port)
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
            for block in worker.rank.blocks_of(blocks):
                worker.caches.fill(prompt, block, block_ids[block])
        keeps, parameters = instance.scheduler.request_finished_all_groups(request, (block_ids,))
        assert keeps, "blocks that are to be sent are freed later"
        instance.step()
        pipe.send(parameters)
        instance.until(request.request_id, SENT, of=instance.senders)
        instance.free(allocated)
        pipe.send("sent")


class PrefillAndDecode:
    """The decoding engine, in this process, and the prefilling one beside it."""

    def __init__(self, kind: type[Instance], arguments: list[str]) -> None:
        shapes: Shapes = {PRODUCER: json.loads(os.environ["PREFILL"]), CONSUMER: json.loads(os.environ["DECODE"])}
        port = _free_ports(max(math.prod(shape.get(name, 1) for name in ("tp", "pcp")) for shape in shapes.values()))
        self._bootstrap = f"http://{LOCALHOST}:{port}"
        self._pipe, theirs = multiprocessing.Pipe()
        spawn = multiprocessing.get_context("spawn")
        self._prefill = spawn.Process(target=prefill, args=(theirs, kind, shapes, arguments, port), daemon=True)
        self._prefill.start()
        theirs.close()
        assert self._said() == "ready"
        self._decode = kind(CONSUMER, shapes, arguments, port)

    def transfer(self, prompt: int, blocks: int) -> bool:
        """The prefilling engine computes a prompt, and the decoding one gets its blocks; whether all came. Memory is compared
        byte for byte."""
        decode = self._decode
        transfer_id = f"transfer-{prompt}"
        self._pipe.send((prompt, blocks, transfer_id))
        # What the proxy puts into the second request: what the prefilling engine answers, or where it can be asked.
        parameters = self._said() or {
            "do_remote_prefill": True,
            "remote_engine_id": PRODUCER,
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
            block_ids = [it.block_id for it in allocated.blocks[0]]
            for worker in decode.workers:
                its = {block: block_ids[block] for block in worker.rank.blocks_of(blocks)}
                worker.caches.check(prompt, its, set())
        assert self._said() == "sent"
        decode.free(allocated)
        return not failed

    def close(self) -> None:
        self._pipe.send(None)
        self._prefill.join(LOAD_SECONDS)
        self._decode.shutdown()

    def _said(self) -> Any:
        assert self._pipe.poll(LOAD_SECONDS), "the prefilling engine says nothing"
        return self._pipe.recv()


def _free_ports(count: int) -> int:
    """The first of so many that are free, one after the other."""
    while True:
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            first = held.enter_context(socket.create_server((LOCALHOST, 0))).getsockname()[1]
            for port in range(first + 1, first + count):
                held.enter_context(socket.create_server((LOCALHOST, port)))
            return first


def start(arguments: list[str]) -> PrefillAndDecode:
    return PrefillAndDecode(Instance, arguments)
