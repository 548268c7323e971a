# SPDX-License-Identifier: Apache-2.0
"""vLLM's MooncakeConnector: both are asked at once, and the prefill instance writes into the blocks of the decode instance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvpool_engines.proxy.schemes.asked import Asked
from kvpool_engines.proxy.schemes.scheme import Handoff, Order, Scheme, one_token, several_completions


class VllmMooncake(Scheme):
    """The two find each other by the transfer's id and the bootstrap server of the prefill instance."""

    order = Order.TOGETHER
    bootstrap_port = 8998
    asks_for_engine_id = True

    def refusal_of(self, asked: Asked) -> str | None:
        return several_completions(asked)

    def prefill_body(self, body: Mapping[str, Any], handoff: Handoff, _given: Mapping[str, Any]) -> dict[str, Any]:
        return one_token(
            body, {"do_remote_decode": True, "do_remote_prefill": False, "transfer_id": _transfer_id(handoff)}
        )

    def decode_body(self, body: Mapping[str, Any], handoff: Handoff, _given: Mapping[str, Any]) -> dict[str, Any]:
        parameters = {
            "do_remote_decode": False,
            "do_remote_prefill": True,
            "transfer_id": _transfer_id(handoff),
            "remote_bootstrap_addr": bootstrap_address(handoff.prefill_host, handoff.bootstrap_port),
            "remote_engine_id": handoff.engine_id,
        }
        return {**body, "kv_transfer_params": parameters}


def bootstrap_address(host: str, port: int) -> str:
    """The URL of a bootstrap server, to which callers append a path."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _transfer_id(handoff: Handoff) -> str:
    return f"xfer-{handoff.request_id}"
