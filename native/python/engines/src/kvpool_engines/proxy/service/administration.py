# SPDX-License-Identifier: Apache-2.0
"""The endpoints that clients must not reach: instances, metrics, the metaserver."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from aiohttp import web

from kvpool_engines.proxy.exchange.metaserver import Metaserver
from kvpool_engines.proxy.instances.description import read_descriptions, read_url
from kvpool_engines.proxy.instances.registry import Registry
from kvpool_engines.proxy.refusal import Refusal
from kvpool_engines.proxy.service.errors import BODY_BYTES, errors_as_json

_BODY_BYTES = 8 << 20
METASERVER = "/v1/metaserver"
SOURCE = "request"


class Administration:
    """Handlers of administration. `text_of_metrics` makes what /metrics answers."""

    def __init__(self, registry: Registry, metaserver: Metaserver, text_of_metrics: Callable[[], str]) -> None:
        self._registry, self._metaserver, self._text_of_metrics = registry, metaserver, text_of_metrics
        self._stopping = False

    def application(self) -> web.Application:
        application = web.Application(client_max_size=_BODY_BYTES, middlewares=[errors_as_json])
        application[BODY_BYTES] = _BODY_BYTES
        application.add_routes(
            [
                web.get("/instances", self.instances),
                web.post("/instances", self.add),
                web.delete("/instances", self.remove),
                web.get("/metrics", self.metrics),
                web.post(METASERVER, self.metaserver),
                *self.probes(),
            ]
        )
        return application

    def probes(self) -> list[web.RouteDef]:
        """Routes of both ports."""
        return [web.get("/health", self.health), web.get("/readyz", self.readyz)]

    def stop(self) -> None:
        """From now on it is not ready, so that no Service sends requests to it."""
        self._stopping = True

    async def health(self, _request: web.Request) -> web.Response:
        return web.json_response({"status": "ok"})

    async def readyz(self, _request: web.Request) -> web.Response:
        problem = "the proxy is stopping" if self._stopping else self._registry.problem()
        if problem is not None:
            raise Refusal(503, problem)
        return web.json_response({"status": "ready"})

    async def metrics(self, _request: web.Request) -> web.Response:
        return web.Response(text=self._text_of_metrics(), content_type="text/plain", charset="utf-8")

    async def instances(self, _request: web.Request) -> web.Response:
        return web.json_response({"instances": [instance.as_json() for instance in self._registry]})

    async def add(self, request: web.Request) -> web.Response:
        """Adds instances; those that are there already stay as they are."""
        self._registry.add_all(SOURCE, read_descriptions(await request.read()))
        return await self.instances(request)

    async def remove(self, request: web.Request) -> web.Response:
        """Instances with ?url= or a body {"url": ...} get no further request. They are listed until their last one has ended."""
        url = request.query.get("url") or _object(await request.read()).get("url")
        url = read_url(url)
        found = [instance for instance in self._registry if instance.url == url]
        if not found:
            raise Refusal(404, f"there is no instance {url}: GET /instances shows all")
        elsewhere = sorted({source for instance in found for source in instance.sources} - {SOURCE})
        if elsewhere:
            raise Refusal(
                409, f"{url} is listed by {' and '.join(elsewhere)}: remove it there, or it would be added again"
            )
        for instance in found:
            self._registry.remove(SOURCE, instance)
        return await self.instances(request)

    async def metaserver(self, request: web.Request) -> web.Response:
        await self._metaserver.posted(_object(await request.read()))
        return web.json_response({"status": "ok"})


def _object(content: bytes) -> dict[str, Any]:
    try:
        given = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise Refusal(400, f"the body is no JSON: {problem}") from None
    if not isinstance(given, dict):
        raise Refusal(400, "the body is no JSON object")
    return given
