# SPDX-License-Identifier: Apache-2.0
"""SGLang: both get the same request, and meet in a room of the prefill instance's bootstrap server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kvpool_engines.proxy.schemes.scheme import Handoff, Order, Scheme


class Sglang(Scheme):
    """Several prompts and completions of one request get the rooms behind the one that is named, on both sides."""

    order = Order.TOGETHER
    bootstrap_port = 8998

    def prefill_body(self, body: Mapping[str, Any], handoff: Handoff, _given: Mapping[str, Any]) -> dict[str, Any]:
        # The number of tokens is left: the engine ends after the prompt by itself, and checks what both were asked.
        plain = {name: value for name, value in body.items() if name != "stream_options"}
        return {**plain, "stream": False, **_room(handoff)}

    def decode_body(self, body: Mapping[str, Any], handoff: Handoff, _given: Mapping[str, Any]) -> dict[str, Any]:
        return {**body, **_room(handoff)}


def _room(handoff: Handoff) -> dict[str, Any]:
    return {
        "bootstrap_host": handoff.prefill_host,
        "bootstrap_port": handoff.bootstrap_port,
        "bootstrap_room": handoff.room,
    }
