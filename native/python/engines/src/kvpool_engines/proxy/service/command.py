# SPDX-License-Identifier: Apache-2.0
"""The command kvpool-proxy."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from kvpool_engines.proxy.exchange.limits import Limits
from kvpool_engines.proxy.instances.description import Description, Role, WrongInstances, read_port, read_url
from kvpool_engines.proxy.instances.kubernetes_source import Cluster, NoCluster, cluster_of
from kvpool_engines.proxy.schemes import SCHEMES
from kvpool_engines.proxy.schemes.scheme import Order
from kvpool_engines.proxy.service.proxy import Configuration, running

_logger = logging.getLogger("kvpool_engines.proxy")
_SECONDS_MAX = 86_400.0
_COUNT_MAX = 1 << 40


def main() -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        asyncio.run(_serve(read_command(sys.argv[1:], os.environ)))
    except (WrongInstances, OSError) as problem:
        sys.exit(f"kvpool-proxy: {problem}")


async def _serve(configuration: Configuration) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with running(configuration) as proxy:
        _logger.info("completions on port %d, administration on port %d", proxy.port, proxy.admin_port)
        await stop.wait()


def read_command(arguments: Sequence[str], environment: Mapping[str, str]) -> Configuration:
    """The configuration of a command line. SystemExit, with what is wrong on stderr, when there is none."""
    parser = _parser()
    given = parser.parse_args(arguments)
    scheme = SCHEMES[given.scheme]
    try:
        instances = [_instance(text, Role.PREFILL) for text in given.prefill]
        instances += [_instance(text, Role.DECODE) for text in given.decode]
        cluster = _cluster(given, environment)
    except (WrongInstances, NoCluster) as problem:
        parser.error(str(problem))
    if scheme.order is Order.DECODE_FIRST and not given.advertise_host:
        parser.error(
            f"--scheme {given.scheme} needs --advertise-host: decode instances post to this address of the proxy"
        )
    return Configuration(
        scheme=scheme,
        host=given.host,
        port=given.port,
        admin_port=given.admin_port,
        advertise_host=given.advertise_host,
        instances=tuple(instances),
        file=given.instances,
        cluster=cluster,
        selector=given.kubernetes_selector,
        engine_port=given.engine_port,
        refresh=given.refresh,
        health_interval=given.health_interval,
        health_timeout=given.health_timeout,
        stop_timeout=given.stop_timeout,
        limits=Limits(
            connect=given.connect_timeout,
            gone=given.gone_timeout,
            prefill=given.prefill_timeout,
            first_byte=given.first_byte_timeout,
            idle=given.idle_timeout,
            retries=given.retries,
            recomputes=given.max_recomputes,
            requests=given.max_requests,
            body_bytes=given.max_body_bytes,
            bodies_bytes=max(given.max_bodies_bytes, given.max_body_bytes),
            answer_bytes=given.max_answer_bytes,
        ),
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="kvpool-proxy",
        description="Completions from engines that prefill and engines that decode. "
        "Instances come from flags, a file, pods with labels, and POST /instances on the admin port; all may be used together.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    add, limits = parser.add_argument, Limits()
    add("--scheme", choices=sorted(SCHEMES), required=True, help="how the engines hand over blocks: their connector")
    add("--host", default="0.0.0.0", help="address to listen on")
    add("--port", type=_port, default=8000, help="port of completions")
    add(
        "--admin-port",
        type=_port,
        default=8001,
        help="port of /instances, /metrics and /v1/metaserver; not for clients",
    )
    add("--advertise-host", default="", help="address by which decode instances reach this proxy (ascend-layerwise)")
    add(
        "--prefill",
        action="append",
        default=[],
        metavar="URL[,PORT]",
        help="an instance, with its bootstrap port; repeatable",
    )
    add("--decode", action="append", default=[], metavar="URL", help="an instance; repeatable")
    add("--instances", type=Path, metavar="FILE", help="JSON file of instances, which is read again when it changes")
    add(
        "--kubernetes",
        action="store_true",
        help="pods with label kvpool.dev/pd-role are instances while they are ready",
    )
    add("--kubernetes-namespace", default="", metavar="NAME", help="their namespace, instead of the proxy's own")
    add("--kubernetes-selector", default="", metavar="LABELS", help="more labels that they must have")
    add("--kubernetes-api", default="", metavar="URL", help="API server, instead of that of the proxy's pod")
    add("--engine-port", type=_port, default=8000, help="port of engines in pods without annotation kvpool.dev/pd-port")
    add("--refresh", type=_seconds, default=2.0, help="seconds between two looks at the file and at pods")
    add("--health-interval", type=_seconds, default=5.0, help="seconds between two GET /health of an instance")
    add("--health-timeout", type=_seconds, default=3.0, help="seconds for its answer")
    add("--connect-timeout", type=_seconds, default=limits.connect, help="seconds to connect to an instance")
    add(
        "--gone-timeout",
        type=_seconds,
        default=limits.gone,
        help="seconds without a word of an instance's machine, after which its connections fail",
    )
    add("--prefill-timeout", type=_seconds, default=limits.prefill, help="seconds for the answer of a prefill instance")
    add(
        "--first-byte-timeout",
        type=_seconds,
        default=limits.first_byte,
        help="seconds for the first byte of a decode instance",
    )
    add("--idle-timeout", type=_seconds, default=limits.idle, help="seconds between two parts of a stream")
    add("--stop-timeout", type=_seconds, default=30.0, help="seconds for running requests when the proxy stops")
    add("--retries", type=_count, default=limits.retries, help="attempts after the first, before the first byte")
    add(
        "--max-recomputes",
        type=_count,
        default=limits.recomputes,
        help="how often decode instances may end a request for want of room (vllm-ascend), until it fails",
    )
    add("--max-requests", type=_count, default=limits.requests, help="requests at a time; more are refused")
    add("--max-body-bytes", type=_count, default=limits.body_bytes, help="largest request")
    add(
        "--max-bodies-bytes",
        type=_count,
        default=limits.bodies_bytes,
        help="of all requests at a time, at least one of the largest; more are refused. The proxy may need ten times as much"
        " memory",
    )
    add("--max-answer-bytes", type=_count, default=limits.answer_bytes, help="largest answer that is not streamed")
    return parser


def _instance(text: str, role: Role) -> Description:
    url, comma, port = text.partition(",")
    if comma and not (port.isascii() and port.isdigit() and len(port) <= 5):
        raise WrongInstances(f"--{role.value} {text}: write URL or URL,BOOTSTRAP_PORT")
    return Description(read_url(url), role, read_port(int(port) if comma else 0))


def _cluster(given: argparse.Namespace, environment: Mapping[str, str]) -> Cluster | None:
    if not given.kubernetes:
        for name in ("kubernetes_namespace", "kubernetes_selector", "kubernetes_api"):
            if getattr(given, name):
                raise NoCluster(f"--{name.replace('_', '-')} needs --kubernetes")
        return None
    return cluster_of(environment, given.kubernetes_api.rstrip("/"), given.kubernetes_namespace)


def _port(text: str) -> int:
    return int(_within(text, 65_535))


def _count(text: str) -> int:
    return int(_within(text, _COUNT_MAX))


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= _SECONDS_MAX:
        raise argparse.ArgumentTypeError(f"{text}: write seconds, above 0 and at most {_SECONDS_MAX:g}")
    return seconds


def _within(text: str, most: int) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) > most:
        raise argparse.ArgumentTypeError(f"{text}: write a whole number from 0 to {most}")
    return int(text)
