# SPDX-License-Identifier: Apache-2.0
"""Instances found by the labels of their pods."""

from __future__ import annotations

import asyncio
import json
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from kvpool_engines.proxy.instances.description import WrongInstances
from kvpool_engines.proxy.instances.pods import ROLE_LABEL, instances_of
from kvpool_engines.proxy.instances.registry import Registry
from kvpool_engines.quiet_log import QuietLog

_logger = logging.getLogger("kvpool_engines.proxy")
_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_PAGE_PODS = 500
_PAGES_MAX = 20
_PAGE_BYTES_MAX = 32 << 20
_REQUEST_SECONDS = 10.0


class NoCluster(Exception):
    """What is missing to speak to an API server."""


@dataclass(frozen=True)
class Cluster:
    """Where the API server is, and what it is asked with. The token is read each time: kubelets replace it."""

    api: str
    namespace: str
    token: Path
    authority: Path | None


def cluster_of(environment: Mapping[str, str], api: str, namespace: str, account: Path = _SERVICE_ACCOUNT) -> Cluster:
    """The cluster of this pod; `api` and `namespace`, where not empty, are those to use instead."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT", "443")
    if not api and not host:
        raise NoCluster(
            "this is no pod of a cluster (no KUBERNETES_SERVICE_HOST): leave --kubernetes out, or name --kubernetes-api"
        )
    if host and ":" in host:
        host = f"[{host}]"
    try:
        namespace = namespace or (account / "namespace").read_text().strip()
    except OSError as problem:
        raise NoCluster(
            f"no namespace: name --kubernetes-namespace ({account}/namespace: {problem.strerror})"
        ) from None
    authority = account / "ca.crt"
    return Cluster(
        api or f"https://{host}:{port}", namespace, account / "token", authority if authority.exists() else None
    )


class KubernetesSource:
    """Lists pods every `interval` seconds. While the API server cannot be asked, instances stay as they were."""

    def __init__(
        self,
        registry: Registry,
        session: aiohttp.ClientSession,
        cluster: Cluster,
        selector: str,
        port: int,
        interval: float,
    ) -> None:
        self._registry, self._session, self._cluster = registry, session, cluster
        self._selector = ",".join(filter(None, (f"{ROLE_LABEL} in (prefill,decode)", selector)))
        self._port, self._interval = port, interval
        self._ssl = ssl.create_default_context(cafile=cluster.authority) if cluster.authority else True
        self._log = QuietLog(_logger)
        self.failures = 0

    async def run(self) -> None:
        while True:
            try:
                await self.look()
            except (aiohttp.ClientError, OSError, ValueError, TimeoutError) as problem:
                self.failures += 1
                text = str(problem) or type(problem).__name__
                self._log.warn("kubernetes", f"pods cannot be listed, instances stay as they were: {text}")
            await asyncio.sleep(self._interval)

    async def look(self) -> None:
        found, problems = instances_of(await self._pods(), self._port)
        for problem in problems:
            self._log.warn("pod", problem)
        self._registry.replace("kubernetes", found)

    async def _pods(self) -> list[Mapping[str, Any]]:
        pods: list[Mapping[str, Any]] = []
        page = ""
        for _ in range(_PAGES_MAX):
            listed = await self._page(page)
            pods.extend(listed.get("items") or [])
            page = (listed.get("metadata") or {}).get("continue") or ""
            if not page:
                return pods
        raise WrongInstances(
            f"more than {_PAGES_MAX * _PAGE_PODS} pods have label {ROLE_LABEL}: name --kubernetes-selector"
        )

    async def _page(self, page: str) -> dict[str, Any]:
        url = f"{self._cluster.api}/api/v1/namespaces/{self._cluster.namespace}/pods"
        query = {"labelSelector": self._selector, "limit": str(_PAGE_PODS), **({"continue": page} if page else {})}
        headers = {"Authorization": f"Bearer {self._cluster.token.read_text().strip()}"}
        async with (
            asyncio.timeout(_REQUEST_SECONDS),
            self._session.get(url, params=query, headers=headers, ssl=self._ssl) as answer,
        ):
            content = await answer.content.read(1024) if answer.status != 200 else await _bounded(answer)
            if answer.status == 403:
                raise WrongInstances(
                    f"the service account may not list pods of namespace {self._cluster.namespace}: give it a Role"
                )
            if answer.status != 200:
                raise WrongInstances(f"GET {url} answers {answer.status}: {content.decode(errors='replace')}")
        listed = json.loads(content)
        if not isinstance(listed, dict):
            raise WrongInstances(f"GET {url} answers no list")
        return listed


async def _bounded(answer: aiohttp.ClientResponse) -> bytes:
    content = bytearray()
    async for part in answer.content.iter_any():
        content += part
        if len(content) > _PAGE_BYTES_MAX:
            raise WrongInstances(f"a page of pods has more than {_PAGE_BYTES_MAX} bytes")
    return bytes(content)
