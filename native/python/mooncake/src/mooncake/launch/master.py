# SPDX-License-Identifier: Apache-2.0
"""`mooncake_master`: a kvpool master for manifests and scripts of the reference."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mooncake.http_metadata_server import KVBootstrapServer
from mooncake.launch import command_line, config_file, pool_command, process
from mooncake.launch.command_line import BadCommandLine, CommandLine
from mooncake.launch.master_flags import FLAGS

PROGRAM = "mooncake_master"
_SUMMARY = "Runs a kvpool master. Engines and mooncake_client bring the memory."


def read(arguments: Sequence[str]) -> CommandLine:
    """The command line, with the file that it names below it. Raises BadCommandLine."""
    line = command_line.read(arguments, FLAGS)
    path = str(line.values["config_path"])
    if line.help or not path:
        return line
    try:
        settings = config_file.parse(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValueError) as problem:
        raise BadCommandLine([f"--config_path {path}: {problem}"]) from None
    return command_line.read(arguments, FLAGS, settings)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs until it is stopped. The exit code of the pool, 2 for a wrong command line."""
    try:
        line = read(sys.argv[1:] if arguments is None else arguments)
        if line.help:
            print(command_line.usage(PROGRAM, _SUMMARY, FLAGS))
            return 0
        wanted = pool_command.of_master(line.values)
    except BadCommandLine as refused:
        return process.refuse(PROGRAM, refused.problems)
    except ValueError as problem:
        return process.refuse(PROGRAM, [str(problem)])
    for warning in line.warnings:
        process.say(PROGRAM, warning)
    if line.values["enable_http_metadata_server"]:
        host, port = str(line.values["http_metadata_server_host"]), int(str(line.values["http_metadata_server_port"]))
        try:
            KVBootstrapServer(port, host).run()
        except OSError as problem:
            process.say(PROGRAM, f"the metadata server cannot listen on {host} port {port}: {problem}")
            return 1
    try:
        pool = process.start(wanted, os.environ)
    except process.NoCommand as problem:
        process.say(PROGRAM, str(problem))
        return 1
    process.forward_signals(pool)
    return pool.wait()


if __name__ == "__main__":
    sys.exit(main())
