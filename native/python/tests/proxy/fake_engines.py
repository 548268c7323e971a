# SPDX-License-Identifier: Apache-2.0
"""Engines that check what they are asked as strictly as the real ones, over real sockets, and fail when told.

A decode instance answers with the prompt that reached it through a prefill instance: an answer is right only when ids, rooms and
addresses were. What was wrong about a request is in `violations` of the fabric and answered by 400.
"""

import asyncio
import ctypes
import itertools
import json
import socket
import struct
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import ClientSession, web
from recomputing import PARTS, RECOMPUTE_AND_CUT, Generated, problem_of

# Faults, of which a request takes the first one that its engine has.
FAIL, HANG, REFUSE, BUSY, NO_BLOCKS = "fail", "hang", "refuse", "busy", "no blocks"
# The connection ends, as when the process does.
CRASH = "crash"
# From here on the connection is silent, as that of a machine without power.
VANISH = "vanish"
# Faults of streams: an event that is an error, and after the first event an end within the next, an end without [DONE], no end.
ERROR_EVENT, CUT, CLEAN_END, STALL = "error event", "cut", "clean end", "stall"
# A stream that never ends.
FLOOD = "flood"


_SO_ATTACH_FILTER = 26
_RETURN_NOTHING = struct.pack("HBBI", 0x06, 0, 0, 0)


def discard_packets(connection: socket.socket) -> None:
    """The kernel takes no packet for this socket any more, and acknowledges none."""
    program = ctypes.create_string_buffer(_RETURN_NOTHING, len(_RETURN_NOTHING))
    connection.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", 1, ctypes.addressof(program)))


class Fabric:
    """Where blocks travel between engines."""

    def __init__(self) -> None:
        self.violations: list[str] = []
        self.arrived: dict[Any, asyncio.Future[str]] = defaultdict(asyncio.get_running_loop().create_future)

    def write(self, place: Any, prompt: str) -> None:
        self.expect(not self.arrived[place].done(), f"{place} is written twice")
        if not self.arrived[place].done():
            self.arrived[place].set_result(prompt)

    def expect(self, condition: object, what: str) -> None:
        if not condition:
            self.violations.append(what)
            raise web.HTTPBadRequest(text=json.dumps({"error": {"message": what}}))


class Engine:
    """An engine of one role. `gate` closed holds answers back; `aborted` counts requests whose client left."""

    def __init__(self, fabric: Fabric, role: str) -> None:
        self.fabric, self.role = fabric, role
        self.faults: deque[str] = deque()
        self.requests: list[dict[str, Any]] = []
        self.credentials: list[str | None] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.running = self.aborted = 0
        self.healthy = True
        self.status_of_models = 200
        self.padding = ""  # of the messages of errors
        self._runners: list[web.AppRunner] = []
        self.url = ""
        self.port = self.bootstrap_port = 0
        self.engine_id = ""

    async def listen(self) -> None:
        """On the ports that it had before. Its bootstrap server has one of its own."""
        self.port = await self._listen(self.port)
        self.bootstrap_port = await self._listen(self.bootstrap_port) if self.role == "prefill" else 0
        self.url = f"http://127.0.0.1:{self.port}"

    async def _listen(self, port: int) -> int:
        runner = web.AppRunner(self.application(), handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await runner.setup()
        self._runners.append(runner)
        await web.TCPSite(runner, "127.0.0.1", port).start()
        return runner.addresses[0][1]

    async def die(self) -> None:
        while self._runners:
            await self._runners.pop().cleanup()

    # What a kind of engines overrides

    async def prefill(self, body: dict[str, Any], request_id: str, prompt: str) -> dict[str, Any]:
        """What the answer has beside its choices."""
        raise NotImplementedError

    async def fetch(self, body: dict[str, Any], request_id: str, prompt: str) -> str:
        """The prompt that came from a prefill instance."""
        raise NotImplementedError

    # HTTP

    def application(self) -> web.Application:
        application = web.Application()
        application.add_routes(
            [
                web.get("/health", self._health),
                web.get("/query", self._query),
                web.get("/v1/models", self._models),
                web.post("/v1/completions", self._complete),
                web.post("/v1/chat/completions", self._complete),
            ]
        )
        return application

    async def _health(self, _request: web.Request) -> web.Response:
        return web.Response(status=200 if self.healthy else 503)

    async def _query(self, _request: web.Request) -> web.Response:
        return web.json_response({"0": {"engine_id": self.engine_id, "worker_addr": {"0": {"0": "tcp://10.0.0.1:1"}}}})

    async def _models(self, request: web.Request) -> web.Response:
        self.credentials.append(request.headers.get("Authorization"))
        return web.json_response({"object": "list", "data": [{"id": "m"}]}, status=self.status_of_models)

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        self.running += 1
        try:
            return await self._answer(request)
        except (asyncio.CancelledError, ConnectionResetError):
            self.aborted += 1
            raise
        finally:
            self.running -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.credentials.append(request.headers.get("Authorization"))
        fault = self.faults.popleft() if self.faults else ""
        if fault == VANISH:
            discard_packets(request.transport.get_extra_info("socket"))
        if fault == CRASH:
            request.transport.abort()
        if fault in (CRASH, HANG, VANISH):
            await asyncio.Event().wait()
        for status, name in ((500, FAIL), (400, REFUSE), (429, BUSY)):
            if fault == name:
                headers = {"Retry-After": "7"} if fault == BUSY else {}
                message = f"told to {name}{self.padding}"
                return web.json_response({"error": {"message": message}}, status=status, headers=headers)
        request_id = request.headers["X-Request-Id"]
        prompt = "".join(it["content"] for it in body["messages"]) if "messages" in body else body["prompt"]
        name = f"chatcmpl-{request_id}" if "messages" in body else f"cmpl-{request_id}-0"
        if self.role == "prefill":
            self.fabric.expect(body["stream"] is False and "stream_options" not in body, "prefill is streamed")
            beside = await self.prefill(body, name, prompt)
            await self.gate.wait()
            return web.json_response({"choices": [{"text": "x"}], **({} if fault == NO_BLOCKS else beside)})
        fetched = await self.fetch(body, name, prompt)
        self.fabric.expect(fetched == prompt, f"blocks of {fetched!r} came for {prompt!r}")
        if "|" in prompt:
            return await self._generate(request, body, prompt, Generated(body, name, prompt, fault), fault)
        if body.get("stream"):
            return await self._stream(request, fetched, fault)
        await self.gate.wait()
        return web.json_response({"choices": [{"text": f"{fetched} " * PARTS}]})

    async def _generate(
        self, request: web.Request, body: dict[str, Any], prompt: str, generated: Generated, fault: str
    ) -> web.StreamResponse:
        problem = problem_of(body, prompt)
        self.fabric.expect(problem is None, str(problem))
        if not body.get("stream"):
            return web.json_response(generated.whole())
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        for event in generated.events(body.get("stream_options") or {}):
            await response.write(event)
            if fault == RECOMPUTE_AND_CUT and b'"recomputed"' in event:
                request.transport.close()
        return response

    async def _stream(self, request: web.Request, fetched: str, fault: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        await self.gate.wait()
        if fault == ERROR_EVENT:
            await response.write(b'data: {"error": {"message": "told to"}}\n\ndata: [DONE]\n\n')
            return response
        while fault == FLOOD:
            await response.write(b"data: {}\n\n" * 10_000)
        for part in range(PARTS):
            event = f"data: {json.dumps({'choices': [{'text': fetched + ' '}]})}\n\n".encode()
            if part == 1 and fault == CUT:
                await response.write(event[:7])
                request.transport.close()
                return response
            if part == 1 and fault == CLEAN_END:
                return response
            if part == 1 and fault == STALL:
                await asyncio.Event().wait()
            await response.write(event)
        await response.write(b"data: [DONE]\n\n")
        return response


def _one_token(fabric: Fabric, body: dict[str, Any]) -> dict[str, Any]:
    fabric.expect(body["max_tokens"] == 1, "prefill computes more than one token")
    fabric.expect(body.get("max_completion_tokens", 1) == 1, "max_completion_tokens is above 1")
    fabric.expect(body.get("min_tokens", 0) <= 1, "vLLM refuses min_tokens above max_tokens")
    fabric.expect(body.get("n", 1) == 1, "n is above 1")
    return body["kv_transfer_params"]


class PullEngine(Engine):
    """vLLM's NixlConnector, vllm-ascend's MooncakeConnectorV1."""

    async def prefill(self, body: dict[str, Any], request_id: str, prompt: str) -> dict[str, Any]:
        parameters = _one_token(self.fabric, body)
        empty = dict.fromkeys(("remote_engine_id", "remote_block_ids", "remote_host", "remote_port"))
        asked = {"do_remote_decode": True, "do_remote_prefill": False, **empty}
        self.fabric.expect(parameters == asked, f"prefill gets {parameters}")
        filled = {
            **{"do_remote_prefill": True, "do_remote_decode": False, "remote_block_ids": [[7, 8]]},
            **{"remote_engine_id": self.engine_id, "remote_request_id": request_id, "remote_host": "127.0.0.1"},
            **{"remote_port": self.port, "tp_size": 2, "remote_multi_nodes_meta_mapping": {"0": {"host": "h"}}},
        }
        self.fabric.write(json.dumps(filled, sort_keys=True), prompt)
        return {"kv_transfer_params": filled}

    async def fetch(self, body: dict[str, Any], _request_id: str, prompt: str) -> str:
        if "kv_transfer_params" not in body:
            return prompt
        place = json.dumps(body["kv_transfer_params"], sort_keys=True)
        self.fabric.expect(place in self.fabric.arrived, f"no prefill instance returned {place}")
        return await self.fabric.arrived.pop(place)


class MooncakeEngine(Engine):
    """vLLM's MooncakeConnector."""

    async def prefill(self, body: dict[str, Any], _request_id: str, prompt: str) -> dict[str, Any]:
        parameters = _one_token(self.fabric, body)
        keys = {"do_remote_decode", "do_remote_prefill", "transfer_id"}
        self.fabric.expect(set(parameters) == keys, f"prefill gets {parameters}")
        self.fabric.expect(parameters["do_remote_decode"] and not parameters["do_remote_prefill"], "roles are mixed up")
        self.fabric.write((self.engine_id, parameters["transfer_id"]), prompt)
        return {}

    async def fetch(self, body: dict[str, Any], _request_id: str, _prompt: str) -> str:
        parameters = dict(body["kv_transfer_params"])
        self.fabric.expect(parameters.pop("do_remote_prefill") is True, "decode is not told to fetch")
        self.fabric.expect(parameters.pop("do_remote_decode") is False, "roles are mixed up")
        place = (parameters.pop("remote_engine_id"), parameters.pop("transfer_id"))
        async with (
            ClientSession() as session,
            session.get(parameters.pop("remote_bootstrap_addr") + "/query") as answer,
        ):
            known = [rank["engine_id"] for rank in (await answer.json()).values()]
        self.fabric.expect(place[0] in known and not parameters, f"{place[0]} is not one of {known}")
        return await self.fabric.arrived[place]


class SglangEngine(Engine):
    """SGLang with disaggregation."""

    def _room(self, body: dict[str, Any]) -> tuple[str, int, int]:
        self.fabric.expect(type(body["bootstrap_room"]) is int and 0 <= body["bootstrap_room"] < 1 << 63, "no room")
        return body["bootstrap_host"], body["bootstrap_port"], body["bootstrap_room"]

    async def prefill(self, body: dict[str, Any], _request_id: str, prompt: str) -> dict[str, Any]:
        room = self._room(body)
        self.fabric.expect(room[:2] == ("127.0.0.1", self.bootstrap_port), f"{room} is not mine")
        self.fabric.write(room, prompt)
        return {}

    async def fetch(self, body: dict[str, Any], _request_id: str, _prompt: str) -> str:
        return await self.fabric.arrived[self._room(body)]


class LayerwiseEngine(Engine):
    """vllm-ascend's MooncakeLayerwiseConnector. `posts` has what the metaserver answered."""

    def __init__(self, fabric: Fabric, role: str) -> None:
        super().__init__(fabric, role)
        self.posts: list[int] = []
        self.posts_each = 1

    async def prefill(self, body: dict[str, Any], request_id: str, prompt: str) -> dict[str, Any]:
        parameters = _one_token(self.fabric, body)
        self.fabric.expect(parameters["do_remote_decode"] is True, "prefill is not told to hand over")
        self.fabric.expect(parameters["request_id"] == request_id, "the two requests have different ids")
        self.fabric.expect(parameters["remote_cached_tokens"] == 0, "what decode posted did not come whole")
        self.fabric.write((parameters["remote_engine_id"], parameters["remote_port"], request_id), prompt)
        return {}

    async def fetch(self, body: dict[str, Any], request_id: str, _prompt: str) -> str:
        parameters = dict(body["kv_transfer_params"])
        url = parameters.pop("metaserver")
        self.fabric.expect(parameters == {"do_remote_decode": False, "do_remote_prefill": True}, f"got {parameters}")
        message = {
            **{"token_ids": [], "request_id": request_id, "do_remote_prefill": False, "do_remote_decode": True},
            **{"remote_block_ids": [[1, 2]], "remote_engine_id": self.engine_id, "remote_host": "127.0.0.1"},
            **{"remote_port": self.port, "remote_tp_size": 1, "remote_pcp_size": 1, "remote_dcp_size": 1},
            "remote_cached_tokens": 0,
        }
        posts = [asyncio.create_task(self._post(url, message)) for _ in range(self.posts_each)]
        try:
            return await self.fabric.arrived[self.engine_id, self.port, request_id]
        finally:
            # The engine posts from a thread, which goes on when the request is aborted.
            self.last_posts = posts

    async def _post(self, url: str, message: dict[str, Any]) -> None:
        async with ClientSession() as session, session.post(url, json=message) as answer:
            self.posts.append(answer.status)


KINDS: dict[str, Callable[[Fabric, str], Engine]] = {
    "vllm-nixl": PullEngine,
    "ascend-pull": PullEngine,
    "vllm-mooncake": MooncakeEngine,
    "sglang": SglangEngine,
    "ascend-layerwise": LayerwiseEngine,
}
_numbers = itertools.count(1)


@asynccontextmanager
async def started(engine: Engine) -> AsyncIterator[Engine]:
    """The engine, listening."""
    engine.engine_id = f"engine-{next(_numbers)}"
    await engine.listen()
    try:
        yield engine
    finally:
        await engine.die()
