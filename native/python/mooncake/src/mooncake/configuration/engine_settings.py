# SPDX-License-Identifier: Apache-2.0
"""The arguments of TransferEngine.initialize() and the environment, checked: pure."""

from __future__ import annotations

import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from mooncake.configuration.environment import (
    parse_directory,
    parse_engine_payloads,
    parse_truth,
    read_environment,
)
from mooncake.configuration.protocols import read_override
from mooncake.configuration.settings import BadSettings

_T = TypeVar("_T")

PEER_TO_PEER = "P2PHANDSHAKE"
_PORT_VARIABLES = ("MC_MIN_RPC_PORT", "MC_MAX_RPC_PORT")
_PORTS = (15000, 17000)
SERVED = "tcp"
ASCEND = "ascend"
_TIMEOUT = 30.0
_SHORTEST_TIMEOUT = 5.0


@dataclass(frozen=True)
class EngineSettings:
    """What kvpool.TransferEngine is made with."""

    name: str
    metadata_url: str | None  # None: engines find each other without a server
    metadata_prefix: str  # of keys
    protocols: tuple[str, ...]
    listen_host: str | None
    ports: tuple[int, int]
    timeout: float  # seconds of a transfer, before what its length adds
    instead_of: str | None = None  # the protocol that was asked for, where the environment overrides it
    tls_dir: str | None = None
    payloads: str | None = None  # "authenticated", or else encrypted
    trusted_fabric: bool = False  # ascend beside certificates
    same_machine: bool = True  # from memory to memory there


def read_engine_settings(
    local_hostname: str, metadata_server: str, protocol: str, metadata_type: str, environment: Mapping[str, str]
) -> EngineSettings:
    """Raises BadSettings with every problem there is; what protocols and ports are good for is the library's to say."""
    problems: list[str] = []
    if not local_hostname:
        problems.append('local_hostname is empty, but must be "host" or "host:port"')
    metadata_url = _metadata_url(metadata_server, metadata_type, problems)
    ports = _ports(environment, problems)
    timeout = _timeout(environment.get("MC_TRANSFER_TIMEOUT", ""), problems)
    protocols, instead_of = _protocols(protocol, environment, problems)
    tls_dir = _value("KVPOOL_TLS_DIR", parse_directory, environment, problems)
    payloads = _value("KVPOOL_ENGINE_PAYLOADS", parse_engine_payloads, environment, problems)
    trusted_fabric = _value("KVPOOL_TRUSTED_FABRIC", parse_truth, environment, problems) or False
    same_machine = _value("KVPOOL_ENGINE_SAME_MACHINE", parse_truth, environment, problems)
    if problems:
        raise BadSettings(problems)
    listen_host = environment.get("MC_TCP_BIND_ADDRESS") or None
    cluster = environment.get("MC_METADATA_CLUSTER_ID", "")
    prefix = f"mooncake/{cluster}/" if cluster else "mooncake/"
    return EngineSettings(
        local_hostname,
        metadata_url,
        prefix,
        protocols,
        listen_host,
        ports,
        timeout,
        instead_of,
        tls_dir,
        payloads,
        trusted_fabric,
        same_machine is not False,
    )


def _value(variable: str, parse: Callable[[str], _T], environment: Mapping[str, str], problems: list[str]) -> _T | None:
    """None for a variable that is not set, or empty."""
    text = environment.get(variable, "")
    try:
        return parse(text) if text else None
    except ValueError as problem:
        problems.append(f"environment variable {variable} {problem}")
        return None


def _metadata_url(server: str, kind: str, problems: list[str]) -> str | None:
    """The address of a server of HTTP; None for none."""
    if server == PEER_TO_PEER:
        return None
    url = server if "://" in server or not kind else f"{kind}://{server}"
    if url.startswith(("http://", "https://")) and urllib.parse.urlsplit(url).hostname:
        return url
    problems.append(
        f'metadata server {url!r} cannot be used: give "{PEER_TO_PEER}", with which engines find each other by HOST:PORT '
        'and without a server, or one of HTTP, "http://HOST:PORT/metadata"'
    )
    return None


def _protocols(asked: str, environment: Mapping[str, str], problems: list[str]) -> tuple[tuple[str, ...], str | None]:
    """Those to try, and what was asked for where the environment has another one used."""
    names = tuple(name.strip() for name in (asked or SERVED).split(","))
    try:
        override = read_override(environment)
    except ValueError as problem:
        problems.append(str(problem))
        return names, None
    if override is None or SERVED in names:
        return names, None
    of_pool = read_environment(environment)[0].protocols
    if ASCEND in names and ASCEND in of_pool:
        # The environment is that of a pool on NPUs: tcp is for the peers that ascend does not reach, where the pool has it.
        return (*names, override) if override in of_pool else names, None
    return (override,), asked


def _ports(environment: Mapping[str, str], problems: list[str]) -> tuple[int, int]:
    ports = []
    for variable, standard in zip(_PORT_VARIABLES, _PORTS, strict=True):
        text = environment.get(variable, "") or str(standard)
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
            problems.append(f"environment variable {variable} is {text!r}, but must be a port, 1 to 65535")
            text = str(standard)
        ports.append(int(text))
    return ports[0], ports[1]


def _timeout(text: str, problems: list[str]) -> float:
    if not text:
        return _TIMEOUT
    if not text.isascii() or not text.isdigit() or len(text) > 6:
        problems.append(f"environment variable MC_TRANSFER_TIMEOUT is {text!r}, but must be whole seconds")
        return _TIMEOUT
    return max(_SHORTEST_TIMEOUT, float(text))
