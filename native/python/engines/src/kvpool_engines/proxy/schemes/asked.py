# SPDX-License-Identifier: Apache-2.0
"""What a client asks for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from kvpool_engines.proxy.refusal import Refusal

COMPLETIONS = "/v1/completions"
CHAT = "/v1/chat/completions"

# Fields by which engines hand over blocks. A client must not name the blocks of others.
_OF_ENGINES = ("kv_transfer_params", "bootstrap_host", "bootstrap_port", "bootstrap_room")
_COUNTS = ("n", "best_of")
_CHARACTERS_OF_A_TOKEN = 4
_TOKENS_OF_A_PICTURE = 1000


@dataclass(frozen=True)
class Asked:
    """A request for a completion.

    Args:
        path: COMPLETIONS or CHAT.
        body: its JSON, without fields that only engines may set.
        prompts: prompts in it.
        tokens: its prompts' length, estimated: nothing here has the model's tokens.
    """

    path: str
    body: dict[str, Any]
    prompts: int
    tokens: int

    @property
    def stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def samples(self) -> int:
        """Completions of each prompt that are computed."""
        return max(1, *(self.body.get(name) or 1 for name in _COUNTS))


def read_asked(path: str, content: bytes) -> Asked:
    """The request in a body."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise Refusal(400, f"the body is no JSON: {problem}") from None
    if not isinstance(body, dict):
        raise Refusal(400, 'the body is no JSON object: send {"model": ..., ...}')
    body = {name: value for name, value in body.items() if name not in _OF_ENGINES}
    for name in _COUNTS:
        # Engines also read 2.0 and "2" as 2: what is not understood here could ask for more completions than are counted.
        if body.get(name) is not None and type(body[name]) is not int:
            raise Refusal(400, f"{name} is {json.dumps(body[name])[:100]}: send a whole number, or leave it out")
    if path == CHAT:
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise Refusal(400, "messages is missing: send a list of at least one message")
        return Asked(path, body, 1, sum(_tokens_of(message) for message in messages))
    if body.get("prompt_embeds") is not None:
        raise Refusal(400, "prompt_embeds cannot be handed over: send a prompt of text or token numbers")
    prompt = body.get("prompt")
    if not isinstance(prompt, str | list) or prompt == []:
        raise Refusal(400, "prompt is missing: send a text, token numbers or a list of these")
    if isinstance(prompt, str) or all(type(token) is int for token in prompt):
        return Asked(path, body, 1, _tokens(prompt))
    if not all(isinstance(one, str | list) for one in prompt):
        raise Refusal(400, "prompt mixes types: send texts, or lists of token numbers")
    return Asked(path, body, len(prompt), sum(_tokens(one) for one in prompt))


def _tokens_of(message: Any) -> int:
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        texts = [part.get("text") if isinstance(part, dict) else None for part in content]
        return sum(_tokens(text) if isinstance(text, str) else _TOKENS_OF_A_PICTURE for text in texts)
    return _tokens(content) if isinstance(content, str) else 1


def _tokens(prompt: str | list[Any]) -> int:
    return max(1, len(prompt) // _CHARACTERS_OF_A_TOKEN if isinstance(prompt, str) else len(prompt))
