# SPDX-License-Identifier: Apache-2.0
"""vLLM's NixlConnector, vllm-ascend's MooncakeConnectorV1: the decode instance fetches blocks that the prefill instance names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvpool_engines.proxy.schemes.asked import Asked
from kvpool_engines.proxy.schemes.scheme import Handoff, Order, Scheme, one_token, several_completions

_ASK = {
    "do_remote_decode": True,
    "do_remote_prefill": False,
    "remote_engine_id": None,
    "remote_block_ids": None,
    "remote_host": None,
    "remote_port": None,
}


class VllmPull(Scheme):
    """What the prefill instance returns goes to the decode instance as it is."""

    order = Order.PREFILL_FIRST

    def refusal_of(self, asked: Asked) -> str | None:
        return several_completions(asked)

    def prefill_body(self, body: Mapping[str, Any], _handoff: Handoff, _given: Mapping[str, Any]) -> dict[str, Any]:
        return one_token(body, _ASK)

    def decode_body(self, body: Mapping[str, Any], _handoff: Handoff, given: Mapping[str, Any]) -> dict[str, Any]:
        # Without parameters the decode instance computes the prompt itself.
        return {**body, "kv_transfer_params": dict(given)} if given else dict(body)


class AscendPull(VllmPull):
    """vllm-ascend's."""

    recomputes = True
