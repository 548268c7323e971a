# SPDX-License-Identifier: Apache-2.0
"""Answers as vllm-ascend's decode instances give them, which end early when told and go on from any part of the answer.

The answer to a prompt `NAME|` is PARTS words, each one token. A prompt with text after `|` has these words already.
"""

import json
from collections.abc import Iterator
from typing import Any

PARTS = 3
# What a decode instance does with one request: it ends it after a word, or before the first.
RECOMPUTE, RECOMPUTE_AT_ONCE = "recompute", "recompute at once"
# After a word, and the connection ends before the events that follow.
RECOMPUTE_AND_CUT = "recompute and cut"


def words_of(prompt: str) -> list[str]:
    return [f"{prompt.partition('|')[0]}{number} " for number in range(PARTS)]


def problem_of(body: dict[str, Any], prompt: str) -> str | None:
    """Why an engine would not go on where the answer was."""
    done = prompt.partition("|")[2]
    if not "".join(words_of(prompt)).startswith(done):
        return f"{done!r} is no beginning of the answer"
    if "messages" not in body or not done:
        return None
    last = body["messages"][-1]
    if last["role"] != "assistant" or not last["content"].endswith(done.split(" ")[-1]):
        return f"the text so far is not a message of the assistant: {body['messages']}"
    if body.get("continue_final_message") is not True or body.get("add_generation_prompt") is not False:
        return "vLLM would begin another message"
    return None


class Generated:
    """What is generated for one request."""

    def __init__(self, body: dict[str, Any], request_id: str, prompt: str, fault: str) -> None:
        self._chat = "messages" in body
        self._names = {"id": request_id, "created": len(prompt), "model": "m"}
        done = prompt.partition("|")[2].count(" ")
        most = {RECOMPUTE: 1, RECOMPUTE_AND_CUT: 1, RECOMPUTE_AT_ONCE: 0}.get(fault, PARTS)
        self._words = words_of(prompt)[done:][:most]
        self._end = {"finish_reason": "stop", "stop_reason": "recomputed" if fault else None}
        before = len(prompt.partition("|")[0]) + done
        self._usage = {
            **{"prompt_tokens": before, "completion_tokens": len(self._words)},
            **{"total_tokens": before + len(self._words), "prompt_tokens_details": None},
        }

    def whole(self) -> dict[str, Any]:
        text = "".join(self._words)
        content = {"message": {"role": "assistant", "content": text}} if self._chat else {"text": text}
        return {**self._names, "choices": [{"index": 0, **content, **self._end}], "usage": self._usage}

    def events(self, options: dict[str, Any]) -> Iterator[bytes]:
        if self._chat:
            yield self._event({"delta": {"role": "assistant", "content": ""}, "finish_reason": None})
        for word in self._words:
            yield self._event({**self._content(word), "finish_reason": None, "stop_reason": None})
        yield self._event({**self._content(""), **self._end})
        if options.get("include_usage"):
            yield _event({**self._names, "choices": [], "usage": self._usage})
        yield b"data: [DONE]\n\n"

    def _content(self, text: str) -> dict[str, Any]:
        return {"delta": {"content": text}} if self._chat else {"text": text}

    def _event(self, choice: dict[str, Any]) -> bytes:
        return _event({**self._names, "choices": [{"index": 0, **choice}]})


def _event(content: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(content)}\n\n".encode()
