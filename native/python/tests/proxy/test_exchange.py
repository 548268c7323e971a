# SPDX-License-Identifier: Apache-2.0
"""Requests through the proxy, by each scheme: what goes well, what fails where, and what the counts say of it."""

import asyncio
import urllib.parse
from collections.abc import AsyncIterator

import pytest
from deployment import answer_to, body_of, deployed, path_of, text_of_stream
from fake_engines import (
    BUSY,
    CLEAN_END,
    CRASH,
    CUT,
    ERROR_EVENT,
    FAIL,
    FLOOD,
    HANG,
    KINDS,
    NO_BLOCKS,
    REFUSE,
    STALL,
    VANISH,
)
from in_loop import in_loop, soon

SCHEMES = sorted(KINDS)
FIELDS = {"max_completion_tokens": 20, "min_tokens": 5, "n": 1}


@pytest.mark.parametrize("scheme", SCHEMES)
@in_loop
async def test_an_answer_comes_from_blocks_of_its_own_prompt(scheme: str) -> None:
    async with deployed(scheme, prefill=2, decode=2) as it:
        asked = [(f"prompt {i}", bool(i & 1), bool(i & 2)) for i in range(12)]
        answers = await asyncio.gather(*(it.ask(prompt, stream, chat, **FIELDS) for prompt, stream, chat in asked))
        assert answers == [(200, answer_to(prompt)) for prompt, _, _ in asked]
        await it.calm()
        listed = (await it.instances()).values()
        assert sum(one["done"] for one in listed) == 24 and not any(one["failed"] for one in listed)
        assert all(one["done"] for one in listed), "each instance had its part"
        # What the client asked for reaches the decode instance as it was.
        assert FIELDS.items() <= it.decode[0].requests[0].items() and it.decode[0].requests[0]["max_tokens"] == 20


@pytest.mark.parametrize("fault", [FAIL, BUSY])
@pytest.mark.parametrize("scheme", SCHEMES)
@in_loop
async def test_a_failed_prefill_instance_is_replaced_by_another(scheme: str, fault: str) -> None:
    async with deployed(scheme, prefill=2) as it:
        it.prefill[0].faults.append(fault)
        answers = [await it.ask(f"prompt {i}", stream=i == 0) for i in range(2)]
        assert answers == [(200, answer_to("prompt 0")), (200, answer_to("prompt 1"))]
        await it.calm()
        assert [(await it.instance(engine))["failed"] for engine in it.prefill] == [1, 0]


@pytest.mark.parametrize("role", ["prefill", "decode"])
@pytest.mark.parametrize("scheme", SCHEMES)
@in_loop
async def test_a_request_without_an_answer_in_time_is_not_computed_again(scheme: str, role: str) -> None:
    limit = "prefill" if role == "prefill" else "first_byte"
    async with deployed(scheme, prefill=2, decode=2, limits={limit: 0.5}) as it:
        late, others = getattr(it, role)[0], [getattr(it, role)[1]]
        late.faults.append(HANG)
        status, error = await it.ask(stream=True)
        assert (status, error["code"]) == (504, 504) and f"{late.url}: no answer after 0.5 s" in error["message"]
        assert not any(engine.requests for engine in others)
        await it.calm()
        assert (await it.instance(late))["failed"] == 1


@pytest.mark.parametrize("fault", [FAIL, BUSY, ERROR_EVENT])
@pytest.mark.parametrize("scheme", SCHEMES)
@in_loop
async def test_a_decode_instance_that_fails_before_the_first_byte_is_replaced(scheme: str, fault: str) -> None:
    async with deployed(scheme, decode=2) as it:
        it.decode[0].faults.append(fault)
        answers = [await it.ask(f"prompt {i}", stream=True) for i in range(2)]
        assert answers == [(200, answer_to("prompt 0")), (200, answer_to("prompt 1"))]
        await it.calm()
        failed = [(await it.instance(engine))["failed"] for engine in it.decode]
        assert failed == [1, 0]
        assert (await it.metrics())['kvpool_proxy_retries_total{role="decode"}'] == sum(failed)


@pytest.mark.parametrize("scheme", SCHEMES)
@in_loop
async def test_an_engine_that_died_is_replaced_and_comes_back(scheme: str) -> None:
    async with deployed(scheme, prefill=2, decode=2) as it:
        for engine in (it.prefill[0], it.decode[0]):
            await engine.die()
        answers = [await it.ask(f"prompt {i}", stream=i == 0) for i in range(4)]
        assert answers == [(200, answer_to(f"prompt {i}")) for i in range(4)]
        for engine in (it.prefill[0], it.decode[0]):
            await it.until(engine, state="unhealthy")
            assert not engine.requests
            await engine.listen()
            await it.until(engine, state="ready")


@pytest.mark.parametrize("role", ["prefill", "decode"])
@in_loop
async def test_a_machine_that_vanishes_is_replaced_by_another(role: str) -> None:
    async with deployed("vllm-nixl", prefill=2, decode=2, limits={"gone": 1}) as it:
        vanished = getattr(it, role)[0]
        vanished.faults.append(VANISH)
        assert await it.ask() == (200, answer_to("hello"))
        assert (await it.instance(vanished))["failed"] == 1


@in_loop
async def test_a_connection_that_fails_is_known_before_the_next_look() -> None:
    async with deployed("vllm-nixl", prefill=2, health_interval=600) as it:
        await it.prefill[0].die()
        assert await it.ask() == (200, answer_to("hello"))
        await it.until(it.prefill[0], state="unhealthy", failed=1)


@in_loop
async def test_a_request_is_not_repeated_where_it_failed_while_there_is_another() -> None:
    async with deployed("vllm-nixl", prefill=2) as it:
        busy, failing = it.prefill
        busy.gate.clear()
        failing.faults.extend([FAIL] * 3)
        first = asyncio.create_task(it.ask("x" * 4000))
        await soon(lambda: busy.requests, "one has much to do")
        second = asyncio.create_task(it.ask("y"))
        await soon(lambda: len(busy.requests) == 2, "the second goes to the one with more to do")
        busy.gate.set()
        assert [status for status, _ in await asyncio.gather(first, second)] == [200, 200]
        assert len(failing.requests) == 1


@in_loop
async def test_an_engine_that_is_not_well_gets_no_request() -> None:
    async with deployed("sglang", prefill=2) as it:
        it.prefill[0].healthy = False
        await it.until(it.prefill[0], state="unhealthy", problem="GET /health answers 503")
        assert [await it.ask() for _ in range(3)] == [(200, answer_to("hello"))] * 3
        assert not it.prefill[0].requests
        it.prefill[1].healthy = False
        await it.until(it.prefill[1], state="unhealthy")
        status, error = await it.ask()
        assert status == 503 and "GET /health answers 503" in error["message"] and it.prefill[1].url in error["message"]
        it.prefill[0].healthy = True
        await it.until(it.prefill[0], state="ready")
        assert (await it.ask())[0] == 200


@pytest.mark.parametrize("fault", [CUT, CLEAN_END, STALL])
@in_loop
async def test_a_stream_that_breaks_off_ends_with_an_error(fault: str) -> None:
    async with deployed("vllm-nixl", decode=2, limits={"idle": 1} if fault == STALL else {}) as it:
        it.decode[0].faults.append(fault)
        status, error = await it.ask(stream=True)
        assert (status, error["type"], error["code"]) == (200, "server_error", 502)
        assert it.decode[0].url in error["message"]
        assert not it.decode[1].requests, "after the first byte nothing is tried again"
        await it.calm()
        assert (await it.instance(it.decode[0]))["failed"] == 1
        assert (await it.metrics())["kvpool_proxy_streams_cut_total"] == 1


@pytest.mark.parametrize("scheme", SCHEMES)
@in_loop
async def test_prefill_is_done_once_the_first_token_came(scheme: str) -> None:
    async with deployed(scheme) as it:
        it.decode[0].gate.clear()
        asking = asyncio.create_task(it.ask("x" * 400, stream=True))
        await it.until(it.prefill[0], running=1, done=0, tokens=100)
        url = it.prefill[0].url
        answered = f'kvpool_proxy_instance_held_tokens{{role="prefill",url="{url}"}}'
        async with asyncio.timeout(60):
            while (await it.metrics())[answered] != 100:  # it has answered, and the blocks are still its own
                await asyncio.sleep(0.005)
        assert (await it.instance(it.prefill[0])).items() >= {"running": 1, "done": 0}.items()
        it.decode[0].gate.set()
        assert (await asking)[0] == 200
        await it.until(it.prefill[0], running=0, done=1, tokens=0)


@in_loop
async def test_blocks_that_wait_count_less_than_prompts_that_are_computed() -> None:
    async with deployed("vllm-nixl", prefill=2, decode=2) as it:
        for decode in it.decode:
            decode.gate.clear()
        holding = asyncio.create_task(it.ask("x" * 4000))
        await soon(lambda: sum(len(one.requests) for one in it.decode) == 1, "one prompt is computed, its blocks wait")
        [first] = [one for one in it.prefill if one.requests]
        [other] = [one for one in it.prefill if not one.requests]
        other.gate.clear()
        computing = asyncio.create_task(it.ask("y" * 4000))
        await soon(lambda: other.requests, "the instance without load gets the second")
        third = asyncio.create_task(it.ask("z"))
        await soon(lambda: len(first.requests) == 2, "1000 tokens that are held are less than 1000 that are computed")
        other.gate.set()
        for decode in it.decode:
            decode.gate.set()
        assert [status for status, _ in await asyncio.gather(holding, computing, third)] == [200] * 3


@pytest.mark.parametrize("scheme", SCHEMES)
@in_loop
async def test_a_client_that_leaves_ends_both_requests(scheme: str) -> None:
    async with deployed(scheme) as it:
        if scheme in ("vllm-nixl", "ascend-pull"):
            it.prefill[0].gate.clear()
            waiting = [it.prefill[0]]
        else:
            it.prefill[0].gate.clear()
            it.decode[0].gate.clear()
            waiting = [it.prefill[0], it.decode[0]]
        asking = asyncio.create_task(it.ask(stream=True))
        await soon(lambda: all(engine.running for engine in waiting), "the engines have the request")
        asking.cancel()
        await soon(lambda: all(engine.aborted == 1 for engine in waiting), "the engines heard that the client left")
        await it.calm()
        metrics = await it.metrics()
        assert metrics["kvpool_proxy_clients_gone_total"] == 1 and metrics["kvpool_proxy_running_requests"] == 0


@in_loop
async def test_a_client_that_leaves_within_a_stream_ends_it() -> None:
    async with deployed("sglang") as it:
        it.decode[0].faults.append(STALL)
        async with it.client.post(f"{it.url}{path_of(False)}", json=body_of("p", True, False)) as answer:
            assert await answer.content.readany()
        await soon(lambda: it.decode[0].aborted == 1, "the engine heard that the client left")
        await it.calm()


@in_loop
async def test_a_client_that_reads_nothing_is_left() -> None:
    async with deployed("sglang", limits={"idle": 0.5}) as it:
        it.decode[0].faults.append(FLOOD)
        async with it.client.post(f"{it.url}{path_of(False)}", json=body_of("p", True, False)) as answer:
            assert answer.status == 200
            await soon(lambda: it.decode[0].aborted == 1, "the engine need not wait for it")
        await it.calm()
        assert (await it.metrics())["kvpool_proxy_clients_gone_total"] == 1


@in_loop
async def test_parts_of_a_stream_are_passed_on_when_they_come() -> None:
    async with deployed("vllm-nixl") as it:
        async with it.client.post(f"{it.url}{path_of(True)}", json=body_of("p", True, True)) as answer:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            content = await answer.read()
        assert text_of_stream(content) == answer_to("p")
        assert content.count(b"data: ") == 4


@in_loop
async def test_what_an_engine_refuses_is_told_as_it_says() -> None:
    async with deployed("vllm-nixl", prefill=2) as it:
        for engine in it.prefill:
            engine.faults.append(REFUSE)
            engine.padding = " " * 900_000  # as of an answer that repeats the request
        assert await it.ask() == (400, {"message": f"told to refuse{it.prefill[0].padding}"})
        assert sum(len(engine.requests) for engine in it.prefill) == 1, "another would refuse it too"
        await it.calm()


@in_loop
async def test_a_prompt_without_blocks_is_computed_by_the_decode_instance() -> None:
    async with deployed("vllm-nixl") as it:
        it.prefill[0].faults.append(NO_BLOCKS)
        assert await it.ask() == (200, answer_to("hello"))
        assert "kv_transfer_params" not in it.decode[0].requests[0]
        assert (await it.metrics())["kvpool_proxy_computed_twice_total"] == 1


@pytest.mark.parametrize("scheme", SCHEMES)
@in_loop
async def test_all_attempts_fail(scheme: str) -> None:
    async with deployed(scheme) as it:
        it.prefill[0].faults.extend([FAIL] * 3)
        status, error = await it.ask()
        assert (status, error["code"]) == (502, 502)
        assert error["message"].startswith("3 attempts failed") and it.prefill[0].url in error["message"]
        await it.calm()


@pytest.mark.parametrize("role", ["prefill", "decode"])
@pytest.mark.parametrize("scheme", SCHEMES)
@in_loop
async def test_a_request_that_ends_engines_is_given_to_two_of_them(scheme: str, role: str) -> None:
    async with deployed(scheme, prefill=3, decode=3) as it:
        engines = getattr(it, role)
        for engine in engines:
            engine.faults.append(CRASH)
        status, error = await it.ask(stream=True)
        assert (status, error["code"]) == (502, 502) and error["message"].startswith("2 attempts failed")
        assert sum(len(engine.requests) for engine in engines) == 2
        await it.calm()


@in_loop
async def test_all_engines_are_busy() -> None:
    async with deployed("vllm-nixl", prefill=2) as it:
        for engine in it.prefill:
            engine.faults.extend([BUSY] * 3)
        async with it.client.post(f"{it.url}{path_of(False)}", json=body_of("p", False, False)) as answer:
            error = (await answer.json())["error"]
            assert (answer.status, error["type"], answer.headers["Retry-After"]) == (429, "rate_limit_error", "7")
            assert it.prefill[0].url in error["message"]
        for engine in it.prefill:
            engine.faults.clear()
        it.prefill[0].faults.extend([BUSY, FAIL, BUSY])
        it.prefill[1].faults.extend([BUSY, FAIL, BUSY])
        assert (await it.ask())[0] == 502, "not all of them are"
        await it.calm()


@in_loop
async def test_credentials_of_the_client_reach_the_engines() -> None:
    async with deployed("vllm-nixl") as it:
        headers = {"Authorization": "Bearer t"}
        async with it.client.post(
            f"{it.url}{path_of(False)}", json=body_of("p", False, False), headers=headers
        ) as answer:
            assert answer.status == 200
        async with it.client.get(f"{it.url}/v1/models", headers=headers) as answer:
            assert (await answer.json())["data"] == [{"id": "m"}]
        assert it.prefill[0].credentials == ["Bearer t"] and it.decode[0].credentials == ["Bearer t"] * 2


@pytest.mark.parametrize(("statuses", "status"), [((401, 401), 401), ((500, 200), 200), ((500, 500), 502)])
@in_loop
async def test_models_are_those_of_any_decode_instance(statuses: tuple[int, int], status: int) -> None:
    async with deployed("vllm-nixl", decode=2) as it:
        for engine, of_models in zip(it.decode, statuses, strict=True):
            engine.status_of_models = of_models
        for _ in range(2):
            async with it.client.get(f"{it.url}/v1/models") as answer:
                assert answer.status == status


@in_loop
async def test_the_metaserver_knows_only_what_waits() -> None:
    async with deployed("ascend-layerwise") as it:
        for given, status in (({"request_id": "cmpl-x-0"}, 404), ({}, 404), ([], 400)):
            async with it.client.post(f"{it.admin}/v1/metaserver", json=given) as answer:
                assert answer.status == status and (await answer.json())["error"]["code"] == status
        it.decode[0].posts_each = 3
        assert await it.ask() == (200, answer_to("hello"))
        assert len(it.prefill[0].requests) == 1, "posted again, computed once"
        await soon(lambda: it.decode[0].posts == [200] * 3, "each post is answered")


@in_loop
async def test_the_metaserver_says_that_prefill_failed() -> None:
    async with deployed("ascend-layerwise", limits={"retries": 0}) as it:
        it.prefill[0].faults.append(FAIL)
        assert (await it.ask())[0] == 502
        await soon(lambda: it.decode[0].posts == [502], "the decode instance hears of it")


@in_loop
async def test_an_engine_that_was_started_again_is_met_by_its_new_name() -> None:
    async with deployed("vllm-mooncake") as it:
        assert (await it.ask())[0] == 200
        it.prefill[0].engine_id = "another"
        assert await it.ask() == (200, answer_to("hello"))


@in_loop
async def test_instances_come_and_go_under_load() -> None:
    async with deployed("vllm-nixl", limits={"retries": 0}) as it:
        stop = asyncio.Event()
        answers: list[tuple[int, str]] = []

        async def ask(name: int) -> None:
            while not stop.is_set():
                answers.append(await it.ask(f"client {name}", stream=name % 2 == 0))

        clients = [asyncio.create_task(ask(name)) for name in range(6)]
        for _ in range(4):
            old = (it.prefill[-1], it.decode[-1])
            for role in ("prefill", "decode"):
                await it.add(await it.engine(role))
            for engine in old:
                async with it.client.delete(f"{it.admin}/instances", json={"url": engine.url}) as answer:
                    assert answer.status == 200
                await it.eventually(lambda listed, url=engine.url: url not in listed, "it is forgotten once it is idle")
                before = len(engine.requests)
                done = len(answers)
                await soon(lambda done=done: len(answers) >= done + 12, "requests go on")
                assert len(engine.requests) == before and engine.aborted == 0
        stop.set()
        await asyncio.gather(*clients)
        assert {status for status, _ in answers} == {200}
        await it.calm()


@in_loop
async def test_a_removed_instance_ends_what_it_has() -> None:
    async with deployed("vllm-nixl") as it:
        it.decode[0].gate.clear()
        asking = asyncio.create_task(it.ask(stream=True))
        await soon(lambda: it.decode[0].running, "decode has the request")
        async with it.client.delete(f"{it.admin}/instances", params={"url": it.decode[0].url}) as answer:
            listed = {one["url"]: one for one in (await answer.json())["instances"]}
        assert listed[it.decode[0].url]["state"] == "draining"
        status, error = await it.ask()
        assert status == 503 and "is being removed" in error["message"]
        it.decode[0].gate.set()
        assert await asking == (200, answer_to("hello"))
        await it.eventually(lambda listed: it.decode[0].url not in listed, "it is forgotten")


@in_loop
async def test_no_more_bytes_of_requests_than_may_be() -> None:
    async with deployed("vllm-nixl", limits={"body_bytes": 1000, "bodies_bytes": 1500}) as it:
        it.decode[0].gate.clear()
        asking = asyncio.create_task(it.ask("x" * 800))
        await soon(lambda: it.decode[0].running, "one is under way")

        async def in_parts() -> AsyncIterator[bytes]:
            yield b" " * 800

        url = f"{it.url}{path_of(False)}"
        for content, status in ((b" " * 800, 429), (in_parts(), 429), (b" " * 1001, 413), (b" " * 200, 400)):
            async with it.client.post(url, data=content) as answer:
                assert answer.status == status, await answer.text()
                assert "--max-bod" in await answer.text() or status == 400
        it.decode[0].gate.set()
        assert (await asking)[0] == 200
        await it.calm()
        assert [(await it.ask("x" * 800))[0] for _ in range(3)] == [200] * 3, "what ended counts no more"


@in_loop
async def test_bytes_that_did_not_come_shut_no_other_out() -> None:
    async with deployed("vllm-nixl", limits={"body_bytes": 1000, "bodies_bytes": 1500}) as it:
        url = urllib.parse.urlsplit(it.url)
        head = f"POST {path_of(False)} HTTP/1.1\r\nHost: proxy\r\nContent-Length: 750\r\nExpect: 100-continue\r\n\r\n"
        writers = []
        for _ in range(4):
            reader, writer = await asyncio.open_connection(url.hostname, url.port)
            writers.append(writer)
            writer.write(head.encode())
            assert b"100 Continue" in await reader.readuntil(b"\r\n\r\n"), "the proxy waits for the body"
        assert (await it.ask())[0] == 200
        for writer in writers:
            writer.close()
            await writer.wait_closed()


@in_loop
async def test_no_more_requests_than_may_be() -> None:
    async with deployed("vllm-nixl", limits={"requests": 1}) as it:
        it.decode[0].gate.clear()
        asking = asyncio.create_task(it.ask())
        await soon(lambda: it.decode[0].running, "one is under way")
        status, error = await it.ask()
        assert (status, error["type"]) == (429, "rate_limit_error") and "--max-requests" in error["message"]
        it.decode[0].gate.set()
        assert (await asking)[0] == 200
