# SPDX-License-Identifier: Apache-2.0
"""A proxy, put together from its rooms."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
from aiohttp import web

from kvpool_engines.proxy.exchange.attempt import Attempts
from kvpool_engines.proxy.exchange.engine_socket import engine_socket
from kvpool_engines.proxy.exchange.limits import Limits
from kvpool_engines.proxy.exchange.metaserver import Metaserver
from kvpool_engines.proxy.exchange.upstream import Upstream
from kvpool_engines.proxy.instances.description import Description
from kvpool_engines.proxy.instances.file_source import FileSource
from kvpool_engines.proxy.instances.health import HealthChecks
from kvpool_engines.proxy.instances.kubernetes_source import Cluster, KubernetesSource
from kvpool_engines.proxy.instances.registry import Registry
from kvpool_engines.proxy.schemes.scheme import Scheme
from kvpool_engines.proxy.service.administration import METASERVER, SOURCE, Administration
from kvpool_engines.proxy.service.completions import Completions
from kvpool_engines.proxy.service.metrics import Metrics

# Engines close connections that were idle for 5 s (uvicorn): one that is taken just then would fail a request.
_KEEP_ALIVE_SECONDS = 2.0


@dataclass(frozen=True)
class Configuration:
    """What the command's flags say. `admin_port` 0 takes any free port, as `port` 0 does."""

    scheme: Scheme
    host: str = "0.0.0.0"
    port: int = 8000
    admin_port: int = 8001
    advertise_host: str = ""
    instances: tuple[Description, ...] = ()
    file: Path | None = None
    cluster: Cluster | None = None
    selector: str = ""
    engine_port: int = 8000
    refresh: float = 2.0
    health_interval: float = 5.0
    health_timeout: float = 3.0
    stop_timeout: float = 30.0
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
class Running:
    """A proxy that serves."""

    port: int
    admin_port: int
    administration: Administration


@contextlib.asynccontextmanager
async def running(configuration: Configuration) -> AsyncIterator[Running]:
    """Serves while it lasts; at its end requests have `stop_timeout` seconds to end."""
    limits = configuration.limits
    async with contextlib.AsyncExitStack() as stack:
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=limits.connect)
        connector = aiohttp.TCPConnector(
            limit=0,
            keepalive_timeout=_KEEP_ALIVE_SECONDS,
            socket_factory=lambda address: engine_socket(address, limits.gone),
        )
        # Cookies of one client's answer are nothing for the next client; proxies of the environment are not for engines.
        session = await stack.enter_async_context(
            aiohttp.ClientSession(connector=connector, timeout=timeout, cookie_jar=aiohttp.DummyCookieJar())
        )
        checks = HealthChecks(session, configuration.health_interval, configuration.health_timeout)
        stack.push_async_callback(checks.close)
        registry = Registry(checks.start, checks.stop)
        for description in configuration.instances:
            registry.add(SOURCE, description)
        sources, failures = _sources(configuration, registry, session)

        metrics, metaserver, upstream = Metrics(), Metaserver(), Upstream(session, limits)
        # Its URL has the port of the administration, which is known once that listens.
        attempts = Attempts(configuration.scheme, registry, upstream, metaserver)
        administration = Administration(
            registry, metaserver, lambda: metrics.text(registry, attempts.computed_twice, failures())
        )
        completions = Completions(configuration.scheme, attempts, registry, upstream, limits, metrics)
        application = completions.application()
        application.add_routes(administration.probes())
        for source in sources:
            stack.push_async_callback(_stop, asyncio.create_task(source.run()))
        admin_port = await _serve(stack, administration.application(), configuration, configuration.admin_port)
        host = configuration.advertise_host or "127.0.0.1"
        attempts.metaserver_url = f"http://{f'[{host}]' if ':' in host else host}:{admin_port}{METASERVER}"
        port = await _serve(stack, application, configuration, configuration.port)
        yield Running(port, admin_port, administration)
        administration.stop()


def _sources(
    configuration: Configuration, registry: Registry, session: aiohttp.ClientSession
) -> tuple[list[FileSource | KubernetesSource], Callable[[], int]]:
    """What lists instances, and how often that failed."""
    sources: list[FileSource | KubernetesSource] = []
    if configuration.file is not None:
        source = FileSource(registry, configuration.file, configuration.refresh)
        source.read()
        sources.append(source)
    cluster = None
    if configuration.cluster is not None:
        cluster = KubernetesSource(
            registry,
            session,
            configuration.cluster,
            configuration.selector,
            configuration.engine_port,
            configuration.refresh,
        )
        sources.append(cluster)
    return sources, lambda: cluster.failures if cluster else 0


async def _serve(
    stack: contextlib.AsyncExitStack, application: web.Application, configuration: Configuration, port: int
) -> int:
    """The port that it listens on. A client that leaves ends its request, and with that the requests to engines."""
    runner = web.AppRunner(
        application, handler_cancellation=True, shutdown_timeout=configuration.stop_timeout, access_log=None
    )
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    site = web.TCPSite(runner, configuration.host, port)
    await site.start()
    return runner.addresses[0][1]


async def _stop(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
