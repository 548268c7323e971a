# SPDX-License-Identifier: Apache-2.0
"""The arguments of setup(), checked: pure, so that every problem is reported at once."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from kvpool import MIN_SEGMENT_BYTES, TransferEngine
from mooncake.configuration.environment import ClientOptions, read_environment
from mooncake.configuration.protocols import REMEDY, read_override
from mooncake.configuration.sizes import parse_size
from mooncake.configuration.ssd_tiers import SSD_REMEDY
from mooncake.transfers.transfer_types import inner_engine

_SERVED_PROTOCOLS = ("", "tcp", "shm", "ascend")
_ASCEND = "ascend"
_STAGING_BLOCK = 64
_MASTERS_VARIABLE = "MOONCAKE_MASTER"
_MASTERS_DEFAULT = "127.0.0.1:50051"
_REQUIRED = ("local_hostname", "metadata_server")
_DEFAULTS: dict[str, object] = {
    "local_hostname": "",
    "metadata_server": "",
    "global_segment_size": 16 << 20,
    "local_buffer_size": 16 << 20,
    "protocol": "tcp",
    "rdma_devices": "",
    "master_server_addr": "",
    "engine": None,
    "ipc_socket_path": "",
    "enable_ssd_offload": False,
    "ssd_offload_path": "",
    "tenant_id": "default",
    "enable_client_http_server": False,
    "client_http_port": 9300,
}

# The same settings as engines call them in their files, and LMCache in the dict that it passes on.
_OTHER_NAMES = {
    "master_server_address": "master_server_addr",
    "device_name": "rdma_devices",
    "enable_offload": "enable_ssd_offload",
}

# How alike a slip of the pen is to what was meant.
_ALIKE = 0.8

# What engines read themselves, from the file that also holds the arguments of setup().
_OF_ENGINES = frozenset(("mode", "transfer_timeout"))


@dataclass(frozen=True)
class Settings:
    """What setup() does, once its arguments are found good."""

    local_hostname: str
    advertise_host: str
    masters: str
    segment_bytes: int
    client: ClientOptions
    local_buffer_bytes: int = 0  # 0: values that do not lie in registered memory are not served
    engine: TransferEngine | None = None  # whose registered memory counts as the store's
    instead_of: str | None = None  # the protocol that was asked for, where the environment overrides it
    tenant: str = "default"  # "default": whatever tenant this process has
    http_port: int | None = None  # of health and metrics; None: not served
    notes: list[str] = field(default_factory=list)  # what the caller should know, for the log


@dataclass(frozen=True)
class AgentSettings:
    """What setup_dummy() does, once its arguments are found good."""

    socket: str
    mem_pool_bytes: int
    staging_bytes: int  # 0: the default
    client: ClientOptions

    @property
    def largest_value(self) -> int:
        """All values go through the staging memory, what the library has of it where more or less is not asked for, in whole
        blocks."""
        return max(self.staging_bytes or 64 << 20, 1 << 20) // _STAGING_BLOCK * _STAGING_BLOCK


class BadSettings(Exception):
    """`problems` says all that is wrong, one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def parse_host(local_hostname: str) -> str:
    """The host of "host", "host:port", "[v6]:port" or a bare IPv6 address."""
    if local_hostname.startswith("["):
        return local_hostname[1:].partition("]")[0]
    host, colon, port = local_hostname.rpartition(":")
    return host if colon and port.isdigit() and ":" not in host else local_hostname


def read_settings(given: Mapping[str, object], environment: Mapping[str, str]) -> Settings:
    """Raises BadSettings."""
    named, notes = _by_our_names(given)
    values = {**_DEFAULTS, **named}
    problems: list[str] = [f"{name} is missing" for name in _REQUIRED if name not in named]
    sizes = {}
    for name in ("global_segment_size", "local_buffer_size"):
        try:
            sizes[name] = parse_size(values[name])
        except ValueError as problem:
            problems.append(f"{name} {problem}")
    hostname = str(values["local_hostname"])
    if "local_hostname" in named and not parse_host(hostname):
        problems.append(f'local_hostname is {hostname!r}, but must be "host" or "host:port"')
    masters, masters_notes = _masters(named, environment)
    if not masters.strip(" ,"):
        problems.append("master_server_addr is empty, but must be HOST:PORT[,HOST:PORT...]")
    http_port = None
    try:
        http_port = _http_port(values)
    except ValueError as problem:
        problems.append(f"client_http_port {problem}")
    engine = None
    try:
        engine = inner_engine(values["engine"])
    except ValueError as problem:
        problems.append(f"engine {problem}")
    client, client_problems = read_environment(environment)
    problems += client_problems
    protocol = str(values["protocol"])
    instead_of = _instead_of(protocol, client, environment, problems)
    if protocol == _ASCEND and instead_of is None and _ASCEND not in client.protocols:
        client = replace(client, protocols=(_ASCEND,))
    if problems:
        raise BadSettings(problems)
    segment_bytes, size_notes = _segment(sizes["global_segment_size"])
    return Settings(
        local_hostname=hostname,
        advertise_host=parse_host(hostname),
        masters=masters,
        segment_bytes=segment_bytes,
        client=client,
        local_buffer_bytes=sizes["local_buffer_size"],
        engine=engine,
        instead_of=instead_of,
        tenant=str(values["tenant_id"] or "default"),
        http_port=http_port,
        notes=[*notes, *masters_notes, *size_notes, *_without_effect(values)],
    )


def _by_our_names(given: Mapping[str, object]) -> tuple[dict[str, object], list[str]]:
    """The settings by the names that the arguments of setup() have, which count where a setting has two names."""
    named = {name: value for name, value in given.items() if name in _DEFAULTS}
    notes = []
    for name, value in given.items():
        if name in _DEFAULTS or name in _OF_ENGINES:
            continue
        ours = _OTHER_NAMES.get(name)
        if ours is None:
            close = difflib.get_close_matches(name, [*_DEFAULTS, *_OTHER_NAMES], 1, _ALIKE)
            meant = f"; is {close[0]!r} meant?" if close else ""
            notes.append(f"{name!r} is no setting of this version and has no effect{meant}")
        elif ours not in given:
            named[ours] = value
        elif str(given[ours]) != str(value):
            notes.append(f"{ours} is {given[ours]!r} and {name}, the same setting, {value!r}: {given[ours]!r} is used")
    return named, notes


def _masters(named: Mapping[str, object], environment: Mapping[str, str]) -> tuple[str, list[str]]:
    """A dict may leave the masters out."""
    if "master_server_addr" in named:
        return str(named["master_server_addr"]), []
    variable = environment.get(_MASTERS_VARIABLE, "")
    if variable:
        return variable, []
    missing = f"neither master_server_addr (or master_server_address) nor the environment variable {_MASTERS_VARIABLE}"
    return _MASTERS_DEFAULT, [f"{missing} names a master: {_MASTERS_DEFAULT} is tried"]


def _instead_of(
    protocol: str, client: ClientOptions, environment: Mapping[str, str], problems: list[str]
) -> str | None:
    """The protocol itself where the environment has another one used; whatever is wrong is added to the problems."""
    try:
        override = read_override(environment)
    except ValueError as problem:
        problems.append(str(problem))
        return None
    overridden = protocol == _ASCEND and override is not None and _ASCEND not in client.protocols
    if protocol in _SERVED_PROTOCOLS and not overridden:
        return None
    if override is None:
        problems.append(
            f"protocol is {protocol!r}, but this build of kvpool has tcp, ascend and, on one machine, shared memory, and falls "
            f"back to nothing in silence: {REMEDY}"
        )
    return protocol


def _segment(size: int) -> tuple[int, list[str]]:
    if 0 < size < MIN_SEGMENT_BYTES:
        return MIN_SEGMENT_BYTES, [f"global_segment_size {size} is raised to the smallest segment, {MIN_SEGMENT_BYTES}"]
    return size, []


def _without_effect(values: Mapping[str, object]) -> list[str]:
    notes = []
    if _truth(values["enable_ssd_offload"]):
        notes.append(f"enable_ssd_offload has no effect: {SSD_REMEDY}; what this process puts is kept there too")
    return notes


def _http_port(values: Mapping[str, object]) -> int | None:
    """None where no port is asked for."""
    if not _truth(values["enable_client_http_server"]):
        return None
    text = str(values["client_http_port"]).strip()
    if not text.isascii() or not text.isdecimal() or len(text) > 5 or int(text) > 65535:
        raise ValueError(f"is {text!r}, but must be a port, 0 (any) to 65535")
    return int(text)


def _truth(value: object) -> bool:
    """The values of the dict form are strings as often as not."""
    return str(value).strip().lower() in ("true", "1", "yes", "on")
