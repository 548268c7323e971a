# SPDX-License-Identifier: Apache-2.0
"""`mooncake_client`: memory of this machine in a pool, and the service of clients here that use setup_dummy()."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping, Sequence

from kvpool import KvpoolError
from kvpool.enrolment import certificate_directory
from mooncake.configuration.agent_settings import is_ours, problem_of_agents, service_directory, service_socket
from mooncake.configuration.environment import ClientOptions, read_environment
from mooncake.configuration.protocols import REMEDY, override_log, read_override
from mooncake.connection.own_address import advertised_host
from mooncake.connection.own_segments import OwnSegments
from mooncake.launch import command_line, pool_command, process
from mooncake.launch.client_flags import FLAGS
from mooncake.launch.command_line import BadCommandLine

PROGRAM = "mooncake_client"
_SUMMARY = "Adds memory of this machine to a kvpool pool, and serves setup_dummy(..., HOST:PORT) of processes here."
_LOOK_SECONDS = 0.5
_SERVED_PROTOCOLS = frozenset(("", "tcp", "shm"))
_logger = logging.getLogger("mooncake.launch")


def overridden(protocol: str, environment: Mapping[str, str]) -> str | None:
    """The protocol where the environment has tcp used instead of it. Raises BadCommandLine for one that is not served."""
    try:
        override = read_override(environment)
    except ValueError as problem:
        raise BadCommandLine([str(problem)]) from None
    if protocol in _SERVED_PROTOCOLS:
        return None
    if override is None:
        raise BadCommandLine(
            [
                f"--protocol is {protocol!r}, but mooncake_client serves tcp and, on one machine, shared memory, and falls back "
                f"to nothing in silence: {REMEDY}"
            ]
        )
    return protocol


def connecting(environment: Mapping[str, str]) -> ClientOptions:
    """What the environment says of connections, the same as to setup(). Raises BadCommandLine."""
    options, problems = read_environment(environment)
    problem = problem_of_agents(options)
    if problem is not None:
        problems.append(problem)
    if problems:
        raise BadCommandLine(problems)
    return options


def free_port(wanted: int) -> int:
    """The port of --http_port, or 0 (any) where another process listens there: no pool lacks memory for want of a probe."""
    try:
        socket.create_server(("", wanted)).close()
    except OSError as problem:
        process.say(
            PROGRAM,
            f"--http_port {wanted} cannot be listened on ({problem.strerror}): /health and /metrics are at another port, which "
            "the agent's log names; give each mooncake_client of a machine an --http_port of its own",
        )
        return 0
    return wanted


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs until it is stopped, or its service has ended. 2 for a wrong command line."""
    try:
        line = command_line.read(sys.argv[1:] if arguments is None else arguments, FLAGS)
        instead_of = None if line.help else overridden(str(line.values["protocol"]), os.environ)
        options = ClientOptions() if line.help else connecting(os.environ)
    except BadCommandLine as refused:
        return process.refuse(PROGRAM, refused.problems)
    if line.help:
        print(command_line.usage(PROGRAM, _SUMMARY, FLAGS))
        return 0
    for warning in line.warnings:
        process.say(PROGRAM, warning)
    if instead_of is not None:
        override_log.write(_logger, instead_of, "tcp")
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        return _run(line.values, options, stop)
    except (KvpoolError, OSError, ValueError, process.NoCommand) as problem:
        process.say(PROGRAM, str(problem))
        return 1


def _run(values: Mapping[str, object], options: ClientOptions, stop: threading.Event) -> int:
    masters = str(values["master_server_address"])
    port = int(str(values["port"]))
    directory = service_directory(port)
    os.makedirs(directory, mode=0o700, exist_ok=True)
    if not is_ours(directory):
        raise OSError(f"{directory} belongs to another user: remove it, or choose another --port")
    http_port = free_port(int(str(values["http_port"])))
    # One certificate for both processes: this one keeps it new, and the agent reads it again.
    certificates = certificate_directory(options.tls_dir, options.timeout)
    agent = process.start(
        pool_command.of_agent(masters, directory, service_socket(port), http_port, certificates), os.environ
    )
    segments = None
    try:
        size = int(str(values["global_segment_size"]))
        if size > 0:
            host = advertised_host(str(values["host"]), masters, os.environ)
            # Named by its address, as a put may prefer it (preferred_segment).
            segments = OwnSegments(masters, host, _logger, tls_dir=options.tls_dir)
            own = segments.add(size)
            process.say(PROGRAM, f"{own.size} bytes of this machine are in the pool at {host}:{own.port}")
        while not stop.wait(_LOOK_SECONDS):
            if agent.poll() is not None:
                process.say(PROGRAM, f"the agent has ended with {agent.returncode}")
                return agent.returncode or 1
        return 0
    finally:
        if segments is not None:
            segments.close()
        process.stop(agent)


if __name__ == "__main__":
    sys.exit(main())
