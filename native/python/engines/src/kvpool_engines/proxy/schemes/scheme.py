# SPDX-License-Identifier: Apache-2.0
"""What a scheme says, and what several have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kvpool_engines.proxy.schemes.asked import Asked


class Order(Enum):
    """Which engine is asked when."""

    PREFILL_FIRST = "prefill first"
    TOGETHER = "together"
    DECODE_FIRST = "decode first"


@dataclass(frozen=True)
class Handoff:
    """What both engines of one attempt must agree on.

    Args:
        request_id: of the attempt, in header X-Request-Id of both requests.
        room: a number of the attempt below 2**62.
        prefill_host: host of the prefill instance, without brackets.
        bootstrap_port: where the prefill instance says how to reach its workers.
        engine_id: of the prefill instance's data-parallel rank.
        metaserver: URL that a decode instance posts its blocks to.
    """

    request_id: str
    room: int = 0
    prefill_host: str = ""
    bootstrap_port: int = 0
    engine_id: str = ""
    metaserver: str = ""


class Scheme(ABC):
    """The two requests of a completion."""

    order: Order
    bootstrap_port: int = 0  # of prefill instances that name none; 0: the scheme has no such port
    asks_for_engine_id = False
    recomputes = False  # decode instances may end an answer to have the request computed again

    def refusal_of(self, _asked: Asked) -> str | None:
        """Why the engines cannot serve a request this way."""
        return None

    @abstractmethod
    def prefill_body(self, body: Mapping[str, Any], handoff: Handoff, given: Mapping[str, Any]) -> dict[str, Any]:
        """The request to the prefill instance; `given` is what the decode instance posted, where it is asked first."""

    @abstractmethod
    def decode_body(self, body: Mapping[str, Any], handoff: Handoff, given: Mapping[str, Any]) -> dict[str, Any]:
        """The request to the decode instance; `given` is what the prefill instance returned, where it is asked first."""


def one_token(body: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """A request of vLLM that computes the prompt and ends: the first token is computed again by the decode instance."""
    one = {name: value for name, value in body.items() if name not in ("stream_options", "best_of")}
    one |= {"stream": False, "max_tokens": 1, "kv_transfer_params": dict(parameters)}
    for name, most in (("max_completion_tokens", 1), ("n", 1), ("min_tokens", 1)):
        if name in one:
            one[name] = most if type(one[name]) is not int else min(one[name], most)
    return one


def several_completions(asked: Asked) -> str | None:
    """Why vLLM cannot serve a request for more than one completion: all of them would be told to fetch the same blocks once."""
    if asked.prompts > 1:
        return "prompt is a list of several prompts, which instances cannot hand over in one request: send one request for each"
    if asked.samples > 1:
        return "n or best_of is above 1, and blocks of a prompt can be handed over once only: send one request for each"
    return None
