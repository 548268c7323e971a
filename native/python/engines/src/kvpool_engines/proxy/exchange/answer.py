# SPDX-License-Identifier: Apache-2.0
"""What a client gets of answers that decode instances may end early, to have the request computed again: pure.

vllm-ascend's scheduler ends a request for which a decode instance has no room any more with `stop_reason` `recomputed`. The
request is then asked again with the text so far, and the client sees one answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kvpool_engines.proxy.refusal import Refusal
from kvpool_engines.proxy.schemes.asked import CHAT, Asked

RECOMPUTED = "recomputed"
_END_OF_EVENT = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)")
_DEFAULT_MAX_TOKENS = 16  # of completions, not of chats
# What an engine counts, parses or constrains from the first token of an answer on, so that a second one does not go on with it.
_FROM_THE_START = ("echo", "prompt_logprobs", "truncate_prompt_tokens", "structured_outputs", "tools")


class Answer:
    """The answer to one request, from as many rounds as it takes.

    Attributes:
        asked: what engines are asked in this round.
        ended_early: this round was ended to have the request computed again.
        rounds: that ended early.
    """

    def __init__(self, asked: Asked, recomputes: bool) -> None:
        self.asked = self._original = asked
        self.ended_early = False
        # vLLM names the stop text of a client's own in the same field.
        self._watches = recomputes and RECOMPUTED not in _stops(asked.body)
        options = asked.body.get("stream_options")
        options = options if isinstance(options, dict) else {}
        self._tells_usage = not asked.stream or options.get("include_usage") is True
        if self._watches and asked.stream:
            # How many tokens there were is in an event behind the last one only.
            self._original = replace(asked, body={**asked.body, "stream_options": {**options, "include_usage": True}})
            self.asked = self._original
        self.rounds = 0
        self._text = ""
        self._is_text = True  # what came is only text, which can be asked to be continued
        self._names: dict[str, Any] = {}
        self._prompt_tokens: int | None = None
        self._tokens = 0  # of the rounds before
        self._parts = 0  # of this round
        self._usage: Mapping[str, Any] = {}  # of this round

    def events(self, part: bytes) -> bytes:
        """What the client gets of whole events of a stream."""
        if not self._watches:
            return part
        return b"".join(self._event(event) for event in _END_OF_EVENT.split(part) if event)

    def whole(self, content: bytes) -> bytes | None:
        """What the client gets of an answer that is not streamed; None where it was ended early."""
        given = _object(content) if self._watches else None
        choice = _choice(given)
        if given is None or choice is None:
            return content
        self._read(given, choice)
        if self.ended_early:
            return None
        if self.rounds == 0:
            return content
        if isinstance(choice.get("message"), dict):
            choice["message"]["content"] = self._text
        else:
            choice["text"] = self._text
        return json.dumps(self._summed(given)).encode()

    def again(self, most: int) -> None:
        """Prepares the next round. Refusal when there were too many, or when the client has a part that cannot be continued."""
        self.rounds += 1
        if self.rounds > most:
            text = f"decode instances had no room for the request {self.rounds} times (--max-recomputes {most}): add instances"
            raise Refusal(502, text)
        if self._prompt_tokens is None:
            self._prompt_tokens = self._usage.get("prompt_tokens")
        self._tokens += self._usage.get("completion_tokens", self._parts)
        problem = None if self._is_text and not self._text else self._why_not_continued()
        if problem is not None and self._original.stream:
            raise Refusal(502, f"a decode instance had no room for the request any more, and {problem}")
        if problem is not None:
            # The client has nothing yet.
            self._text, self._is_text, self._tokens, self._prompt_tokens = "", True, 0, None
        self.asked = _continued(self._original, self._text, self._tokens) if self._text else self._original
        self.ended_early, self._parts, self._usage = False, 0, {}

    def _event(self, event: bytes) -> bytes:
        if not event.startswith(b"data:"):
            return event
        content = event[len(b"data:") :].strip()
        if content == b"[DONE]":
            return b"" if self.ended_early else event
        given = _object(content)
        if given is None:
            self._is_text = False
            return event
        if not given.get("choices") and isinstance(given.get("usage"), dict):
            self._usage = given["usage"]
            if self.ended_early or not self._tells_usage:
                return b""
            return event if self.rounds == 0 else self._as_event(given)
        choice = _choice(given)
        if choice is None:
            return event
        has_text = self._read(given, choice)
        if self.ended_early:
            choice["finish_reason"] = choice["stop_reason"] = None
            return self._as_event(given) if has_text else b""
        if self.rounds == 0:
            self._names = self._names or {name: given[name] for name in ("id", "created") if name in given}
            return event
        delta = choice.get("delta")
        if isinstance(delta, dict) and delta.pop("role", None) and not has_text and choice.get("finish_reason") is None:
            return b""  # the beginning of a message, of which the client has the beginning
        return self._as_event(given)

    def _read(self, given: Mapping[str, Any], choice: Mapping[str, Any]) -> bool:
        """Whether there is text in it."""
        if isinstance(given.get("usage"), dict):
            self._usage = given["usage"]
        message = choice.get("delta", choice.get("message"))
        if isinstance(message, dict):
            text = message.get("content")
            self._is_text &= not any(value for name, value in message.items() if name not in ("role", "content"))
        else:
            text = choice.get("text")
        self.ended_early |= choice.get("stop_reason") == RECOMPUTED
        if not isinstance(text, str) or not text:
            return False
        self._text += text
        self._parts += 1
        return True

    def _why_not_continued(self) -> str | None:
        body = self._original.body
        if not self._is_text:
            return "what it has generated is not only text"
        fields = [name for name in _FROM_THE_START if body.get(name)]
        fields += [name for name in body if name.startswith("guided_")]
        if body.get("response_format") not in (None, {"type": "text"}):
            fields.append("response_format")
        # Places in the text are in those of completions, and each token's are in an answer that is not streamed.
        if body.get("logprobs") not in (None, False) and not (self._original.stream and self._original.path == CHAT):
            fields.append("logprobs")
        if fields:
            return f"an answer with {', '.join(fields)} cannot be continued"
        if self._original.path != CHAT and not isinstance(body["prompt"], str):
            return "a prompt of token numbers cannot be continued: send its text"
        if body.get("continue_final_message") and not isinstance(_last_content(body), str):
            return "the message to continue is no text"
        return None

    def _as_event(self, given: dict[str, Any]) -> bytes:
        return b"data: " + json.dumps(self._summed({**given, **self._names})).encode() + b"\n\n"

    def _summed(self, given: dict[str, Any]) -> dict[str, Any]:
        """With the usage of all rounds, as if there was one."""
        usage = given.get("usage")
        if self.rounds == 0 or not isinstance(usage, dict):
            return given
        prompt = usage.get("prompt_tokens", 0) if self._prompt_tokens is None else self._prompt_tokens
        completion = self._tokens + usage.get("completion_tokens", 0)
        counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
        return {**given, "usage": {**usage, **counts}}


def _continued(asked: Asked, text: str, tokens: int) -> Asked:
    """The request for what comes after `text`, which has so many tokens."""
    body = dict(asked.body)
    if asked.path == CHAT:
        messages = list(body["messages"])
        if body.get("continue_final_message"):
            messages[-1] = {**messages[-1], "content": messages[-1]["content"] + text}
        else:
            messages.append({"role": "assistant", "content": text})
        body |= {"messages": messages, "continue_final_message": True, "add_generation_prompt": False}
    else:
        body["prompt"] += text
        if body.get("max_tokens") is None:
            body["max_tokens"] = _DEFAULT_MAX_TOKENS
    # An engine that has generated all of them would have ended for that.
    body |= {
        name: max(1, body[name] - tokens)
        for name in ("max_tokens", "max_completion_tokens")
        if _is_count(body.get(name))
    }
    if _is_count(body.get("min_tokens")):
        body["min_tokens"] = max(0, body["min_tokens"] - tokens)
    return replace(asked, body=body, tokens=asked.tokens + tokens)


def _is_count(value: Any) -> bool:
    return type(value) is int


def _last_content(body: Mapping[str, Any]) -> Any:
    last = body["messages"][-1]
    return last.get("content") if isinstance(last, dict) else None


def _stops(body: Mapping[str, Any]) -> list[Any]:
    stop = body.get("stop")
    return stop if isinstance(stop, list) else [stop]


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        given = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return given if isinstance(given, dict) else None


def _choice(given: Mapping[str, Any] | None) -> dict[str, Any] | None:
    choices = given.get("choices") if given is not None else None
    return choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
