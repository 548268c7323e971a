# SPDX-License-Identifier: Apache-2.0
"""Answers that decode instances of vllm-ascend end early: the request is computed again, and the client sees one answer."""

import json
from typing import Any

import pytest
from deployment import Deployment, body_of, deployed, path_of
from in_loop import in_loop
from recomputing import PARTS, RECOMPUTE, RECOMPUTE_AND_CUT, RECOMPUTE_AT_ONCE, words_of

from kvpool_engines.proxy.exchange.answer import Answer
from kvpool_engines.proxy.refusal import Refusal
from kvpool_engines.proxy.schemes.asked import CHAT, read_asked

SCHEMES = ["ascend-layerwise", "ascend-pull"]
ANSWER = "".join(words_of("p|"))
USAGE = {"prompt_tokens": 1, "completion_tokens": PARTS, "total_tokens": 1 + PARTS}
WITH_USAGE = {"stream_options": {"include_usage": True}}


async def ask(it: Deployment, stream: bool, chat: bool, **fields: Any) -> tuple[int, list[dict[str, Any]]]:
    """Status and the objects that the client got: one, or the events of a stream before [DONE]."""
    body = body_of("p|", stream, chat, **fields)
    async with it.client.post(f"{it.url}{path_of(chat)}", json=body) as answer:
        content = await answer.text()
    if not content.startswith("data:"):
        return answer.status, [json.loads(content)]
    events = [event.removeprefix("data: ") for event in content.split("\n\n") if event]
    assert events[-1] == "[DONE]" and events.count("[DONE]") == 1
    return answer.status, [json.loads(event) for event in events[:-1]]


def text_of(parts: list[dict[str, Any]]) -> str:
    choices = [choice for part in parts for choice in part["choices"]]
    return "".join(
        choice["text"] if "text" in choice else choice.get("delta", choice.get("message"))["content"]
        for choice in choices
    )


def usage_of(parts: list[dict[str, Any]]) -> list[dict[str, int]]:
    return [{name: part["usage"][name] for name in USAGE} for part in parts if part.get("usage")]


@pytest.mark.parametrize("chat", [False, True], ids=["completion", "chat"])
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("scheme", SCHEMES)
@in_loop
async def test_the_client_sees_one_answer(scheme: str, stream: bool, chat: bool) -> None:
    async with deployed(scheme, decode=2) as it:
        for engine in it.decode:
            engine.faults.append(RECOMPUTE)
        fields = {"max_tokens": 20, "min_tokens": 2, **(WITH_USAGE if stream else {})}
        status, parts = await ask(it, stream, chat, **fields)
        assert (status, text_of(parts), usage_of(parts)) == (200, ANSWER, [USAGE])
        assert len({(part["id"], part["created"]) for part in parts}) == 1
        finished = [(it.get("finish_reason"), it.get("stop_reason")) for part in parts for it in part["choices"]]
        assert [it for it in finished if it != (None, None)] == [("stop", None)]
        assert sum("role" in it.get("delta", {}) for part in parts for it in part["choices"]) == (stream and chat)
        asked = [*it.decode[0].requests, *it.decode[1].requests]
        limits = {(body["max_tokens"], body["min_tokens"]) for body in asked}
        assert limits == {(20, 2), (19, 1), (18, 0)}, "what is left of the client's"
        assert len(it.prefill[0].requests) == 3, "each time the prompt and the text so far are computed again"
        assert it.decode[0].requests and it.decode[1].requests, "another instance has more room"
        assert (await it.metrics())["kvpool_proxy_recomputed_total"] == 2
        await it.calm()


@pytest.mark.parametrize("fault", [RECOMPUTE_AT_ONCE, RECOMPUTE_AND_CUT])
@in_loop
async def test_a_client_that_did_not_ask_for_usage_gets_none(fault: str) -> None:
    """Without the usage of a stream that broke off its parts are counted. A request without any text is repeated as it was."""
    async with deployed("ascend-pull") as it:
        it.decode[0].faults.append(fault)
        status, parts = await ask(it, stream=True, chat=True)
        assert (status, text_of(parts), usage_of(parts)) == (200, ANSWER, [])
        first, second = it.decode[0].requests
        left = {**first, "kv_transfer_params": second["kv_transfer_params"]}
        if fault == RECOMPUTE_AT_ONCE:
            assert second == left
        else:
            assert second["max_tokens"] == 19


@in_loop
async def test_a_message_that_the_client_began_is_continued() -> None:
    async with deployed("ascend-pull") as it:
        it.decode[0].faults.append(RECOMPUTE)
        begun = [{"role": "user", "content": "p|"}, {"role": "assistant", "content": "p0 "}]
        fields = {"messages": begun, "continue_final_message": True, "add_generation_prompt": False}
        status, parts = await ask(it, stream=False, chat=True, **fields)
        assert (status, text_of(parts)) == (200, ANSWER.removeprefix("p0 "))
        assert it.decode[0].requests[1]["messages"][1:] == [{"role": "assistant", "content": "p0 p1 "}]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@in_loop
async def test_it_happens_so_often_and_no_more(stream: bool) -> None:
    async with deployed("ascend-pull", limits={"recomputes": 2}) as it:
        it.decode[0].faults.extend([RECOMPUTE_AT_ONCE] * 3)
        status, parts = await ask(it, stream, chat=False)
        assert status == (200 if stream else 502)
        error = parts[-1]["error"]
        assert error["code"] == 502 and "--max-recomputes 2" in error["message"]
        assert len(it.decode[0].requests) == 3
        await it.calm()


@pytest.mark.parametrize(
    ("fields", "chat", "named"),
    [
        ({"echo": True}, False, "echo"),
        ({"logprobs": 1}, False, "logprobs"),
        ({"response_format": {"type": "json_object"}}, True, "response_format"),
        ({"tools": [{"type": "function"}]}, True, "tools"),
        ({"guided_regex": "p.*"}, True, "guided_regex"),
    ],
)
@in_loop
async def test_what_cannot_be_continued_is_computed_from_the_start(fields: dict, chat: bool, named: str) -> None:
    """Or, where the client has a part of it, ends with an error."""
    async with deployed("ascend-pull") as it:
        it.decode[0].faults.append(RECOMPUTE)
        status, parts = await ask(it, stream=False, chat=chat, **fields)
        assert (status, text_of(parts), usage_of(parts)) == (200, ANSWER, [USAGE])
        it.decode[0].faults.append(RECOMPUTE)
        status, parts = await ask(it, stream=True, chat=chat, **fields)
        assert status == 200 and named in parts[-1]["error"]["message"]


def test_thoughts_and_calls_of_tools_are_not_continued() -> None:
    body = json.dumps(body_of("p|", stream=True, chat=True)).encode()
    answer = Answer(read_asked(CHAT, body), recomputes=True)
    part = b'data: {"choices": [{"delta": {"reasoning": "hm"}}]}\n\n'
    end = b'data: {"choices": [{"delta": {"content": ""}, "stop_reason": "recomputed"}]}\n\n'
    assert answer.events(part + end) == part
    with pytest.raises(Refusal, match="not only text"):
        answer.again(8)


@pytest.mark.parametrize(
    ("scheme", "fields"),
    [("vllm-nixl", {}), ("ascend-pull", {"stop": ["recomputed"]}), ("ascend-pull", {"stop": "recomputed"})],
)
@in_loop
async def test_the_word_has_this_meaning_in_answers_of_vllm_ascend_only(scheme: str, fields: dict) -> None:
    """vLLM has the client's own stop text in the same field."""
    async with deployed(scheme) as it:
        it.decode[0].faults.append(RECOMPUTE)
        status, parts = await ask(it, stream=False, chat=False, **fields)
        assert (status, text_of(parts), parts[0]["choices"][0]["stop_reason"]) == (200, "p0 ", "recomputed")
