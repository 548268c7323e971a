# SPDX-License-Identifier: Apache-2.0
"""The endpoints that clients use."""

from __future__ import annotations

import asyncio
import json
import time

from aiohttp import web

from kvpool_engines.proxy.exchange.attempt import Attempts
from kvpool_engines.proxy.exchange.limits import Limits
from kvpool_engines.proxy.exchange.upstream import EngineFailed, EngineRefused, Reply, Upstream
from kvpool_engines.proxy.instances.description import Role
from kvpool_engines.proxy.instances.instance import Instance
from kvpool_engines.proxy.instances.registry import Registry
from kvpool_engines.proxy.refusal import Refusal
from kvpool_engines.proxy.schemes.asked import CHAT, COMPLETIONS, Asked, read_asked
from kvpool_engines.proxy.schemes.scheme import Scheme
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

    def application(self) -> web.Application:
        application = web.Application(client_max_size=self._limits.body_bytes, middlewares=[errors_as_json])
        application[BODY_BYTES] = self._limits.body_bytes
        application.add_routes(
            [web.post(COMPLETIONS, self.complete), web.post(CHAT, self.complete), web.get("/v1/models", self.models)]
        )
        return application

    async def models(self, request: web.Request) -> web.Response:
        """The models of any decode instance."""
        claim = self._registry.claim(Role.DECODE, 0, ())
        try:
            url = f"{claim.instance.url}/v1/models"
            return web.json_response(await self._upstream.fetch(claim.instance, url, _credentials(request)))
        except EngineFailed as problem:
            raise Refusal(502, str(problem)) from None
        finally:
            claim.given_up()
            self._registry.forget_drained()

    async def complete(self, request: web.Request) -> web.StreamResponse:
        if self._metrics.running >= self._limits.requests:
            raise Refusal(
                429,
                f"{self._limits.requests} requests are under way: come back later, or start the proxy with --max-requests",
                "rate_limit_error",
            )
        self._metrics.running += 1
        status = 500
        try:
            response = await self._complete(request)
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

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        asked = read_asked(request.path, await self._body(request))
        problem = self._scheme.refusal_of(asked)
        if problem is not None:
            raise Refusal(400, problem)
        headers = _credentials(request)
        started = time.monotonic()
        failures: list[str] = []
        avoid: set[Instance] = set()
        for _ in range(1 + self._limits.retries):
            try:
                async with self._attempts.opened(asked, headers, avoid) as reply:
                    self._metrics.first_byte(time.monotonic() - started)
                    return await self._pass_on(request, asked, reply)
            except EngineRefused as refused:
                return web.Response(status=refused.status, body=refused.content, content_type=refused.content_type)
            except EngineFailed as failed:
                failures.append(str(failed))
                avoid.add(failed.instance)
                self._metrics.retries[failed.instance.description.role.value] += 1
            except Refusal as refusal:
                raise Refusal(refusal.status, "; ".join([*failures, str(refusal)])) from None
        raise Refusal(502, f"{len(failures)} attempts failed, look at these engines: {'; '.join(failures)}")

    async def _body(self, request: web.Request) -> bytes:
        try:
            async with asyncio.timeout(self._limits.idle):
                return await request.read()
        except TimeoutError:
            raise Refusal(408, f"the body did not come within {self._limits.idle:g} s") from None

    async def _write(self, request: web.Request, response: web.StreamResponse, content: bytes) -> None:
        """A client that reads nothing has left: the engine would wait for it, and hold its blocks."""
        try:
            async with asyncio.timeout(self._limits.idle):
                await response.write(content)
        except TimeoutError:
            if request.transport is not None:
                request.transport.abort()
            raise ConnectionResetError(f"the client read nothing for {self._limits.idle:g} s") from None

    async def _pass_on(self, request: web.Request, asked: Asked, reply: Reply) -> web.StreamResponse:
        if not reply.streamed:
            return web.Response(body=reply.first, headers={"Content-Type": reply.content_type})
        response = web.StreamResponse(headers={"Content-Type": reply.content_type, "Cache-Control": "no-cache"})
        await response.prepare(request)
        await self._write(request, response, reply.first)
        try:
            async for part in reply.rest():
                await self._write(request, response, part)
        except EngineFailed as failed:
            self._metrics.streams_cut += 1
            event = json.dumps(Refusal(502, f"the answer broke off: {failed}").as_json())
            await self._write(request, response, f"data: {event}\n\ndata: [DONE]\n\n".encode())
        await response.write_eof()
        return response


def _credentials(request: web.Request) -> dict[str, str]:
    """What engines with --api-key ask for: the client has it, the proxy has none."""
    return {name: request.headers[name] for name in ("Authorization",) if name in request.headers}
