# SPDX-License-Identifier: Apache-2.0
"""The arguments of setup(), checked: pure, so that every problem is reported at once."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from kvpool import MIN_SEGMENT_BYTES
from mooncake.environment import ClientOptions, read_environment

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])i?b?|b)?", re.IGNORECASE | re.ASCII)

_SERVED_PROTOCOLS = ("", "tcp", "shm")
_REQUIRED = ("local_hostname", "metadata_server")
_DEFAULTS: dict[str, object] = {
    "local_hostname": "",
    "metadata_server": "",
    "global_segment_size": 16 << 20,
    "local_buffer_size": 16 << 20,
    "protocol": "tcp",
    "rdma_devices": "",
    "master_server_addr": "127.0.0.1:50051",
    "engine": None,
    "ipc_socket_path": "",
    "enable_ssd_offload": False,
    "ssd_offload_path": "",
    "tenant_id": "default",
    "enable_client_http_server": False,
    "client_http_port": 9300,
}


@dataclass(frozen=True)
class Settings:
    """What setup() does, once its arguments are found good."""

    local_hostname: str
    advertise_host: str
    masters: str
    segment_bytes: int
    client: ClientOptions
    notes: list[str] = field(default_factory=list)  # what the caller should know, for the log


@dataclass(frozen=True)
class AgentSettings:
    """What setup_dummy() does, once its arguments are found good."""

    socket: str
    mem_pool_bytes: int
    staging_bytes: int  # 0: the default
    client: ClientOptions


class BadSettings(Exception):
    """`problems` says all that is wrong, one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def parse_size(value: object) -> int:
    """Bytes of an int or of "64MB", "64 MiB", "1.5g": as in Mooncake, MB and MiB are both 1024 * 1024 here."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise ValueError(f"is {value}, but a size is 0 or more")
        return value
    match = _SIZE.fullmatch(str(value).strip())
    if match is None:
        raise ValueError(f'is {value!r}, but must be bytes or a size such as "64MB" or "4GB"')
    return int(Decimal(match[1]) * _UNITS[(match[2] or "").lower()])


def parse_host(local_hostname: str) -> str:
    """The host of "host", "host:port", "[v6]:port" or a bare IPv6 address."""
    if local_hostname.startswith("["):
        return local_hostname[1:].partition("]")[0]
    host, colon, port = local_hostname.rpartition(":")
    return host if colon and port.isdigit() and ":" not in host else local_hostname


def read_settings(given: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Raises BadSettings."""
    values = {**_DEFAULTS, **{name: value for name, value in given.items() if name in _DEFAULTS}}
    problems: list[str] = [f"{name} is missing" for name in _REQUIRED if name not in given]
    sizes = {}
    for name in ("global_segment_size", "local_buffer_size"):
        try:
            sizes[name] = parse_size(values[name])
        except ValueError as problem:
            problems.append(f"{name} {problem}")
    hostname = str(values["local_hostname"])
    if "local_hostname" in given and not parse_host(hostname):
        problems.append(f'local_hostname is {hostname!r}, but must be "host" or "host:port"')
    masters = str(values["master_server_addr"])
    if not masters.strip(" ,"):
        problems.append("master_server_addr is empty, but must be HOST:PORT[,HOST:PORT...]")
    problems += _protocol_problem(str(values["protocol"]))
    client, client_problems = read_environment(environment)
    problems += client_problems
    if problems:
        raise BadSettings(problems)
    segment_bytes, size_notes = _segment(sizes["global_segment_size"])
    notes = size_notes + _notes(given, values)
    return Settings(hostname, parse_host(hostname), masters, segment_bytes, client, notes)


def _protocol_problem(protocol: str) -> list[str]:
    if protocol in _SERVED_PROTOCOLS:
        return []
    return [
        f"protocol is {protocol!r}, but this build of kvpool moves bytes by tcp and, on one machine, by shared memory: "
        'set it to "tcp" (nothing falls back to tcp by itself)'
    ]


def _segment(size: int) -> tuple[int, list[str]]:
    if 0 < size < MIN_SEGMENT_BYTES:
        return MIN_SEGMENT_BYTES, [f"global_segment_size {size} is raised to the smallest segment, {MIN_SEGMENT_BYTES}"]
    return size, []


def _notes(given: Mapping[str, object], values: Mapping[str, object]) -> list[str]:
    notes = [f"{name!r} is no setting of this version and has no effect" for name in given if name not in _DEFAULTS]
    if _truth(values["enable_ssd_offload"]):
        notes.append("enable_ssd_offload has no effect: this version of kvpool keeps objects in memory only")
    if values["tenant_id"] not in ("", "default"):
        notes.append(f"tenant_id {values['tenant_id']!r} has no effect: all clients of a pool share its keys")
    if _truth(values["enable_client_http_server"]):
        notes.append("enable_client_http_server has no effect: masters and storage nodes serve the metrics")
    return notes


def _truth(value: object) -> bool:
    """The values of the dict form are strings as often as not."""
    return str(value).strip().lower() in ("true", "1", "yes", "on")
