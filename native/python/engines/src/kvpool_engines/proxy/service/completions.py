# SPDX-License-Identifier: Apache-2.0
"""The endpoints that clients use."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence

from aiohttp import web

from kvpool_engines.proxy.exchange.answer import Answer
from kvpool_engines.proxy.exchange.attempt import Attempts
from kvpool_engines.proxy.exchange.limits import Limits
from kvpool_engines.proxy.exchange.upstream import (
    BUSY,
    EngineFailed,
    EngineGone,
    EngineLate,
    EngineRefused,
    Reply,
    Upstream,
)
from kvpool_engines.proxy.instances.description import Role
from kvpool_engines.proxy.instances.instance import Instance
from kvpool_engines.proxy.instances.registry import Registry
from kvpool_engines.proxy.refusal import Refusal
from kvpool_engines.proxy.schemes.asked import CHAT, COMPLETIONS, read_asked
from kvpool_engines.proxy.schemes.scheme import Scheme
from kvpool_engines.proxy.service.bodies import Bodies, Body
from kvpool_engines.proxy.service.errors import BODY_BYTES, errors_as_json
from kvpool_engines.proxy.service.metrics import Metrics


class Completions:
    """Handlers of completions."""

    def __init__(
        self,
        scheme: Scheme,
        attempts: Attempts,
        registry: Registry,
        upstream: Upstream,
        limits: Limits,
        metrics: Metrics,
    ) -> None:
        self._scheme, self._attempts, self._registry = scheme, attempts, registry
        self._upstream, self._limits, self._metrics = upstream, limits, metrics
        self._bodies = Bodies(limits)

    def application(self) -> web.Application:
        application = web.Application(middlewares=[errors_as_json])
        application[BODY_BYTES] = self._limits.body_bytes
        application.add_routes(
            [web.post(COMPLETIONS, self.complete), web.post(CHAT, self.complete), web.get("/v1/models", self.models)]
        )
        return application

    async def models(self, request: web.Request) -> web.Response:
        """The models of any decode instance."""
        failures: list[EngineFailed] = []
        for _ in range(1 + self._limits.retries):
            claim = self._registry.claim(Role.DECODE, 0, [failed.instance for failed in failures])
            try:
                credentials = _credentials(request)
                return web.json_response(
                    await self._upstream.fetch(claim.instance, "/v1/models", credentials, for_client=True)
                )
            except EngineRefused as refused:
                return _as_it_is(refused)
            except EngineFailed as failed:
                failures.append(failed)
            finally:
                claim.given_up()
                self._registry.forget_drained()
        raise Refusal(502, _all(failures))

    async def complete(self, request: web.Request) -> web.StreamResponse:
        if self._metrics.running >= self._limits.requests:
            raise Refusal(
                429,
                f"{self._limits.requests} requests are under way: come back later, or start the proxy with --max-requests",
            )
        self._metrics.running += 1
        status = 500
        try:
            with self._bodies.one() as body:
                response = await self._complete(request, body)
            status = response.status
            return response
        except Refusal as refusal:
            status = refusal.status
            raise
        except web.HTTPException as other:
            status = other.status
            raise
        except (asyncio.CancelledError, ConnectionResetError):
            status = 499
            self._metrics.clients_gone += 1
            raise
        finally:
            self._metrics.running -= 1
            self._metrics.ended(request.path, status)

    async def _complete(self, request: web.Request, body: Body) -> web.StreamResponse:
        asked = read_asked(request.path, await self._content(request, body))
        problem = self._scheme.refusal_of(asked)
        if problem is not None:
            raise Refusal(400, problem)
        client = _Client(request, self._limits.idle)
        answer = Answer(asked, self._scheme.recomputes)
        avoid: set[Instance] = set()
        started = time.monotonic()
        while True:
            try:
                reply = await self._round(client, answer, avoid, started)
                if not answer.ended_early:
                    return client.response
                self._metrics.recomputed += 1
                answer.again(self._limits.recomputes)
            except Refusal as refusal:
                if not client.is_streaming:
                    raise
                return await self._cut(client, str(refusal))
            except EngineRefused as refused:
                if client.is_streaming:
                    return await self._cut(client, str(refused))
                return _as_it_is(refused)
            avoid = {reply.instance}

    async def _round(self, client: _Client, answer: Answer, avoid: set[Instance], started: float) -> Reply:
        """Passes on what an engine answers, after as many attempts as it takes."""
        failures: list[EngineFailed] = []
        for _ in range(1 + self._limits.retries):
            try:
                async with self._attempts.opened(answer.asked, client.credentials, avoid) as reply:
                    if answer.rounds == 0:
                        self._metrics.first_byte(time.monotonic() - started)
                    await self._pass_on(client, answer, reply)
                    return reply
            except EngineLate as late:
                raise Refusal(
                    504, f"{_all([*failures, late])}; it is not tried again, as others have as much to do"
                ) from None
            except EngineFailed as failed:
                failures.append(failed)
                avoid.add(failed.instance)
                self._metrics.retries[failed.instance.description.role.value] += 1
                # A request at which engines end must not be given to all of them.
                if sum(isinstance(one, EngineGone) for one in failures) > 1:
                    break
            except Refusal as refusal:
                raise Refusal(refusal.status, _all([*failures, refusal])) from None
        if all(failed.status == BUSY for failed in failures):
            raise Refusal(BUSY, f"all engines are busy: {_all(failures)}", failures[-1].retry_after)
        raise Refusal(502, f"{len(failures)} attempts failed, look at these engines: {_all(failures)}")

    async def _content(self, request: web.Request, body: Body) -> bytes:
        try:
            async with asyncio.timeout(self._limits.idle):
                return await body.read(request)
        except TimeoutError:
            raise Refusal(408, f"the body did not come within {self._limits.idle:g} s") from None

    async def _pass_on(self, client: _Client, answer: Answer, reply: Reply) -> None:
        if not reply.streamed:
            content = answer.whole(reply.first)
            if content is not None:
                client.response = web.Response(body=content, headers={"Content-Type": reply.content_type})
            return
        await client.stream(reply.content_type, answer.events(reply.first))
        try:
            async for part in reply.rest():
                await client.stream(reply.content_type, answer.events(part))
        except EngineFailed as failed:
            if not answer.ended_early:
                await self._cut(client, f"the answer broke off: {failed}")
            return
        if not answer.ended_early:
            await client.end()

    async def _cut(self, client: _Client, problem: str) -> web.StreamResponse:
        """Ends a stream with an error."""
        self._metrics.streams_cut += 1
        event = json.dumps(Refusal(502, problem).as_json())
        await client.write(f"data: {event}\n\ndata: [DONE]\n\n".encode())
        await client.end()
        return client.response


class _Client:
    """Who asked, and the answer it gets."""

    def __init__(self, request: web.Request, idle: float) -> None:
        self._request, self._idle = request, idle
        self.credentials = _credentials(request)
        self.response = web.StreamResponse()
        self.is_streaming = False

    async def stream(self, content_type: str, content: bytes) -> None:
        if not self.is_streaming:
            self.response = web.StreamResponse(headers={"Content-Type": content_type, "Cache-Control": "no-cache"})
            self.is_streaming = True
            await self.response.prepare(self._request)
        if content:
            await self.write(content)

    async def write(self, content: bytes) -> None:
        """A client that reads nothing has left: the engine would wait for it, and hold its blocks."""
        try:
            async with asyncio.timeout(self._idle):
                await self.response.write(content)
        except TimeoutError:
            if self._request.transport is not None:
                self._request.transport.abort()
            raise ConnectionResetError(f"the client read nothing for {self._idle:g} s") from None

    async def end(self) -> None:
        await self.response.write_eof()


def _as_it_is(refused: EngineRefused) -> web.Response:
    return web.Response(status=refused.status, body=refused.content, content_type=refused.content_type)


def _all(problems: Sequence[Exception]) -> str:
    return "; ".join(map(str, problems))


def _credentials(request: web.Request) -> dict[str, str]:
    """What engines with --api-key ask for: the client has it, the proxy has none."""
    return {name: request.headers[name] for name in ("Authorization",) if name in request.headers}
