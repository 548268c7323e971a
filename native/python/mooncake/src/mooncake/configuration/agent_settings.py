# SPDX-License-Identifier: Apache-2.0
"""The arguments of setup_dummy(), checked, so that every problem is reported at once."""

import contextlib
import os
import socket
import stat
import struct
from collections.abc import Mapping

from mooncake.configuration.environment import ClientOptions, read_environment
from mooncake.configuration.settings import AgentSettings, BadSettings
from mooncake.configuration.sizes import parse_size

_SOCKET = "agent.sock"
_DIRECTORY = "KVPOOL_SOCKET_DIR"
_PROBE_SECONDS = 1


def service_directory(port: int) -> str:
    """Where the `mooncake_client` of a port has its socket: shared by processes that have /tmp in common."""
    return f"/tmp/mooncake_client_{port}"


def service_socket(port: int) -> str:
    """The name of its abstract socket, which is what Mooncake's own has: shared by processes of one network namespace, as
    the containers of a pod are, which have a /tmp each."""
    return f"mooncake_client_{port}.sock"


def is_served(name: str) -> bool:
    """Whether this user or root listens on an abstract socket here. It has no mode: anybody may take the name."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        # Else a listener that takes no connections holds us up without end, before we know whose it is.
        probe.settimeout(_PROBE_SECONDS)
        try:
            probe.connect(f"\0{name}")
            _, uid, _ = struct.unpack(
                "3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            )
        except OSError:
            return False
    return uid in (0, os.getuid())


def parse_server_address(address: str, environment: Mapping[str, str]) -> str:
    """The path of the agent's socket: of "/PATH", "unix:/PATH" (a directory stands for agent.sock in it), or of
    "HOST:PORT", which is what Mooncake's own takes, by the directory that the environment names, or of `mooncake_client`
    on this machine, whose socket may be an abstract one ("@NAME")."""
    text = address.strip()
    path = text.removeprefix("unix:")
    if path.startswith("/"):
        path = "/" + path.lstrip("/")
        return path if path.endswith(".sock") else f"{path.rstrip('/')}/{_SOCKET}"
    if text.startswith("unix:"):
        raise ValueError(f"is {address!r}, but the path behind unix: must begin with a slash")
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise ValueError(f'is {address!r}, but must be "unix:/PATH", "/PATH" or "HOST:PORT"')
    directory = environment.get(_DIRECTORY, "").rstrip("/")
    if not directory and _is_this_machine(host):
        if is_ours(service_directory(int(port))):
            directory = service_directory(int(port))
        elif is_served(service_socket(int(port))):
            return f"@{service_socket(int(port))}"
    if not directory.startswith("/"):
        raise ValueError(
            f"is {address!r}, but an agent is reached by a socket, not by a port, and no `mooncake_client` of it runs here "
            f"as this user or as root: start that, set {_DIRECTORY} to the directory that is shared with another agent, or "
            'give "unix:/PATH"'
        )
    return f"{directory}/{_SOCKET}"


def _is_this_machine(host: str) -> bool:
    """Whether one of its addresses can be listened on here."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), 0, type=socket.SOCK_DGRAM)
    except OSError:
        return False
    for family, kind, _, _, address in found:
        with contextlib.suppress(OSError), socket.socket(family, kind) as probe:
            probe.bind(address)
            return True
    return False


def is_ours(directory: str) -> bool:
    """Anybody may write to /tmp: a directory there counts when this user or root made it."""
    try:
        made = os.lstat(directory)
    except OSError:
        return False
    return stat.S_ISDIR(made.st_mode) and made.st_uid in (0, os.getuid())


def problem_of_agents(client: ClientOptions) -> str | None:
    """Why an agent cannot do what the environment says."""
    if client.payloads is None:
        return None
    return (
        f"KVPOOL_PAYLOADS is {client.payloads!r}, but the agent connects to storage nodes, and follows what each of them is"
        " set to: leave the variable out, or set storage nodes to encrypted"
    )


def read_agent_settings(
    mem_pool_size: object, local_buffer_size: object, server_address: object, environment: Mapping[str, str]
) -> AgentSettings:
    """Raises BadSettings."""
    problems: list[str] = []
    sizes = {}
    for name, value in (("mem_pool_size", mem_pool_size), ("local_buffer_size", local_buffer_size)):
        try:
            sizes[name] = parse_size(value)
        except ValueError as problem:
            problems.append(f"{name} {problem}")
    path = ""
    try:
        path = parse_server_address(str(server_address), environment)
    except ValueError as problem:
        problems.append(f"server_address {problem}")
    client, client_problems = read_environment(environment)
    problems += client_problems
    refused = problem_of_agents(client)
    if refused is not None:
        problems.append(refused)
    if problems:
        raise BadSettings(problems)
    return AgentSettings(path, sizes["mem_pool_size"], sizes["local_buffer_size"], client)
