# SPDX-License-Identifier: Apache-2.0
"""vllm-ascend's MooncakeLayerwiseConnector: the decode instance is asked first, and says where each layer shall be written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvpool_engines.proxy.schemes.asked import CHAT, Asked
from kvpool_engines.proxy.schemes.scheme import Handoff, Order, Scheme, one_token, several_completions


class AscendLayerwise(Scheme):
    """What the decode instance posts to the metaserver goes to the prefill instance as it is."""

    order = Order.DECODE_FIRST
    recomputes = True

    def refusal_of(self, asked: Asked) -> str | None:
        return several_completions(asked)

    def prefill_body(self, body: Mapping[str, Any], _handoff: Handoff, given: Mapping[str, Any]) -> dict[str, Any]:
        return one_token(body, given)

    def decode_body(self, body: Mapping[str, Any], handoff: Handoff, _given: Mapping[str, Any]) -> dict[str, Any]:
        parameters = {"do_remote_decode": False, "do_remote_prefill": True, "metaserver": handoff.metaserver}
        return {**body, "kv_transfer_params": parameters}


def posted_id(path: str, request_id: str) -> str:
    """How the engine names a request with this X-Request-Id when it posts: that of its one prompt."""
    return f"chatcmpl-{request_id}" if path == CHAT else f"cmpl-{request_id}-0"
