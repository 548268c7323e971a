# SPDX-License-Identifier: Apache-2.0
"""What each scheme says to either engine."""

import json

import pytest

from kvpool_engines.proxy.exchange.events import Events
from kvpool_engines.proxy.refusal import Refusal
from kvpool_engines.proxy.schemes import SCHEMES
from kvpool_engines.proxy.schemes.ascend_layerwise import posted_id
from kvpool_engines.proxy.schemes.asked import CHAT, COMPLETIONS, read_asked
from kvpool_engines.proxy.schemes.scheme import Handoff

BODY = {"model": "m", "prompt": "p", "max_tokens": 20, "stream": True, "stream_options": {"include_usage": True}}
ONE_TOKEN = {"model": "m", "prompt": "p", "max_tokens": 1, "stream": False}
HANDOFF = Handoff("r1", 77, "10.0.0.1", 8998, "e1", "http://10.0.0.9:8001/v1/metaserver")
PULL_ASK = {
    **{"do_remote_decode": True, "do_remote_prefill": False, "remote_engine_id": None, "remote_block_ids": None},
    **{"remote_host": None, "remote_port": None},
}
ROOM = {"bootstrap_host": "10.0.0.1", "bootstrap_port": 8998, "bootstrap_room": 77}
RETURNED = {"do_remote_prefill": True, "remote_block_ids": [[1, 2]], "remote_host": "h", "remote_port": 5, "tp_size": 8}
POSTED = {"request_id": "cmpl-r1-0", "remote_block_ids": [[3]], "remote_engine_id": "d", "do_remote_decode": True}
LAYERWISE = {"do_remote_decode": False, "do_remote_prefill": True, "metaserver": "http://10.0.0.9:8001/v1/metaserver"}
MOONCAKE = {
    **{"do_remote_decode": False, "do_remote_prefill": True, "transfer_id": "xfer-r1", "remote_engine_id": "e1"},
    "remote_bootstrap_addr": "http://10.0.0.1:8998",
}


@pytest.mark.parametrize(
    ("scheme", "given", "prefill", "decode"),
    [
        ("vllm-nixl", RETURNED, {**ONE_TOKEN, "kv_transfer_params": PULL_ASK}, {"kv_transfer_params": RETURNED}),
        ("ascend-pull", RETURNED, {**ONE_TOKEN, "kv_transfer_params": PULL_ASK}, {"kv_transfer_params": RETURNED}),
        ("vllm-nixl", {}, {**ONE_TOKEN, "kv_transfer_params": PULL_ASK}, {}),
        (
            *("vllm-mooncake", {}),
            {
                **ONE_TOKEN,
                "kv_transfer_params": {"do_remote_decode": True, "do_remote_prefill": False, "transfer_id": "xfer-r1"},
            },
            {"kv_transfer_params": MOONCAKE},
        ),
        ("ascend-layerwise", POSTED, {**ONE_TOKEN, "kv_transfer_params": POSTED}, {"kv_transfer_params": LAYERWISE}),
        ("sglang", {}, {**ONE_TOKEN, "max_tokens": 20, **ROOM}, ROOM),
    ],
)
def test_the_two_requests(scheme: str, given: dict, prefill: dict, decode: dict) -> None:
    before = json.dumps(BODY)
    assert SCHEMES[scheme].prefill_body(BODY, HANDOFF, given) == prefill
    assert SCHEMES[scheme].decode_body(BODY, HANDOFF, given) == {**BODY, **decode}
    assert json.dumps(BODY) == before


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        ({"min_tokens": 5}, {"min_tokens": 1}),
        ({"min_tokens": 0}, {"min_tokens": 0}),
        ({"min_tokens": None}, {"min_tokens": 1}),
        ({"max_completion_tokens": 9}, {"max_completion_tokens": 1}),
        ({"n": 1, "best_of": 1}, {"n": 1}),
        ({"tools": [1], "temperature": 0.5}, {"tools": [1], "temperature": 0.5}),
    ],
)
@pytest.mark.parametrize("scheme", ["vllm-nixl", "vllm-mooncake", "ascend-layerwise"])
def test_prefill_computes_one_token(scheme: str, fields: dict, sent: dict) -> None:
    body = SCHEMES[scheme].prefill_body({**BODY, **fields}, HANDOFF, {})
    del body["kv_transfer_params"]
    assert body == {**ONE_TOKEN, **sent}
    assert fields.items() <= SCHEMES[scheme].decode_body({**BODY, **fields}, HANDOFF, {}).items()


@pytest.mark.parametrize("fields", [{"n": 2}, {"best_of": 3}, {"prompt": ["a", "b"]}, {"prompt": [[1], [2]]}])
@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_blocks_are_handed_over_once(scheme: str, fields: dict) -> None:
    refusal = SCHEMES[scheme].refusal_of(read_asked(COMPLETIONS, json.dumps({**BODY, **fields}).encode()))
    assert refusal is None if scheme == "sglang" else refusal.endswith("send one request for each")


@pytest.mark.parametrize(
    ("path", "body", "prompts", "tokens"),
    [
        (COMPLETIONS, {"prompt": "x" * 40}, 1, 10),
        (COMPLETIONS, {"prompt": "x"}, 1, 1),
        (COMPLETIONS, {"prompt": [1, 2, 3]}, 1, 3),
        (COMPLETIONS, {"prompt": ["x" * 40, "x" * 8]}, 2, 12),
        (COMPLETIONS, {"prompt": [[1, 2], [3]]}, 2, 3),
        (CHAT, {"messages": [{"role": "system", "content": "x" * 400}, {"role": "user", "content": "x" * 8}]}, 1, 102),
        (CHAT, {"messages": [{"content": [{"type": "text", "text": "x" * 8}, {"image_url": "x" * 9000}]}]}, 1, 1002),
        (CHAT, {"messages": [{"role": "assistant", "content": None}, 7]}, 1, 2),
    ],
)
def test_a_prompt_is_measured(path: str, body: dict, prompts: int, tokens: int) -> None:
    asked = read_asked(path, json.dumps(body).encode())
    assert (asked.prompts, asked.tokens, asked.stream, asked.samples) == (prompts, tokens, False, 1)


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        (COMPLETIONS, b"{", "the body is no JSON"),
        (COMPLETIONS, b"\xff", "the body is no JSON"),
        (COMPLETIONS, b"[" * 100_000, "the body is no JSON"),
        (COMPLETIONS, b"[]", "the body is no JSON object"),
        (COMPLETIONS, b"{}", "prompt is missing"),
        (COMPLETIONS, b'{"prompt": []}', "prompt is missing"),
        (COMPLETIONS, b'{"prompt": ["a", 1]}', "prompt mixes types"),
        (COMPLETIONS, b'{"prompt": "a", "prompt_embeds": "AA=="}', "prompt_embeds cannot be handed over"),
        (COMPLETIONS, b'{"prompt": "a", "n": 2.0}', "n is 2.0: send a whole number"),
        (COMPLETIONS, b'{"prompt": "a", "best_of": "2"}', 'best_of is "2": send a whole number'),
        (CHAT, b'{"messages": [{"content": "a"}], "n": "2"}', 'n is "2": send a whole number'),
        (CHAT, b'{"messages": [{"content": "a"}], "n": true}', "n is true: send a whole number"),
        (CHAT, b'{"messages": []}', "messages is missing"),
        (CHAT, b'{"prompt": "a"}', "messages is missing"),
    ],
)
def test_a_wrong_request_is_refused(path: str, content: bytes, message: str) -> None:
    with pytest.raises(Refusal, match=message) as refused:
        read_asked(path, content)
    assert refused.value.status == 400


def test_a_client_names_no_blocks() -> None:
    asked = read_asked(COMPLETIONS, json.dumps({**BODY, "kv_transfer_params": RETURNED, **ROOM}).encode())
    assert asked.body == BODY


def test_an_address_of_six_has_brackets() -> None:
    body = SCHEMES["vllm-mooncake"].decode_body(BODY, Handoff("r", 0, "fd00::1", 8998, "e"), {})
    assert body["kv_transfer_params"]["remote_bootstrap_addr"] == "http://[fd00::1]:8998"


def test_how_an_engine_names_a_request() -> None:
    assert posted_id(CHAT, "r") == "chatcmpl-r"
    assert posted_id(COMPLETIONS, "r") == "cmpl-r-0"


def test_an_error_has_openais_shape() -> None:
    shape = {"error": {"message": "m", "type": "invalid_request_error", "param": None, "code": 400}}
    assert Refusal(400, "m").as_json() == shape
    assert Refusal(503, "m").as_json()["error"]["type"] == "server_error"


@pytest.mark.parametrize(
    ("parts", "passed", "last"),
    [
        ([b"data: a\n\n", b"data: [DONE]\n\n"], [b"data: a\n\n", b"data: [DONE]\n\n"], b""),
        (
            [b"data: a\n", b"\ndata: b", b"\n\ndata: [DONE]\n\n"],
            [b"", b"data: a\n\n", b"data: b\n\ndata: [DONE]\n\n"],
            b"",
        ),
        ([b"data: a\r\n\r\nda", b"ta: [DO", b"NE]\r\n\r\n"], [b"data: a\r\n\r\n", b"", b"data: [DONE]\r\n\r\n"], b""),
        ([b"data: [DONE]\n"], [b""], b"data: [DONE]\n"),
        ([b"data: a\n\n", b'data: {"b'], [b"data: a\n\n", b""], None),
        ([b"data: a\n\n"], [b"data: a\n\n"], None),
        ([b"x" * (2 << 20)], [b"x" * (2 << 20)], None),
    ],
)
def test_events_are_passed_on_whole(parts: list[bytes], passed: list[bytes], last: bytes | None) -> None:
    events = Events()
    assert [events.take(part) for part in parts] == passed
    assert events.last() == last
