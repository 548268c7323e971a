# SPDX-License-Identifier: Apache-2.0
"""`python -m mooncake.mooncake_store_service`: memory of this process in a pool, and the store by HTTP.

Options and routes are the reference's; see docs/guide/mooncake-manifests.md.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import fields

from mooncake.connection.own_address import advertised_host
from mooncake.mooncake_config import MooncakeConfig
from mooncake.store import MooncakeDistributedStore

_logger = logging.getLogger("mooncake.rest")
_RETRY_SECONDS = 1.0
_USAGE = 2


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mooncake_store_service",
        description="Serves the store by HTTP. Settings: --config, else MOONCAKE_CONFIG_PATH, else MOONCAKE_MASTER and the like.",
    )
    parser.add_argument("--config", metavar="FILE", help="JSON file with the settings")
    parser.add_argument(
        "-D", "--define", action="append", default=[], metavar="NAME=VALUE", help="one setting in place of the file's"
    )
    parser.add_argument("--host", default="0.0.0.0", help="address to listen on (default: all of IPv4)")
    parser.add_argument("--port", type=int, default=8080, help="port to listen on (default: 8080)")
    parser.add_argument(
        "--max-wait-time", type=float, default=60, metavar="SECONDS", help="longest wait for a master (default: 60)"
    )
    return parser.parse_args(arguments)


def read_config(options: argparse.Namespace) -> MooncakeConfig:
    """Raises OSError or ValueError, which name what is wrong."""
    config = MooncakeConfig.from_file(options.config) if options.config else MooncakeConfig.load_from_env()
    known = [field.name for field in fields(config)]
    for item in options.define:
        name, equals, value = item.partition("=")
        if not equals or name not in known:
            raise ValueError(f"-D {item}: must be NAME=VALUE, with one of {', '.join(known)} for NAME")
        setattr(config, name, value)
    return config


def connect(config: MooncakeConfig, seconds: float, stop: asyncio.Event) -> MooncakeDistributedStore | None:
    """A store that is set up; None when no master answered for so long. Blocks."""
    end = time.monotonic() + seconds
    while not stop.is_set():
        store = MooncakeDistributedStore()
        code = store.setup(
            {**{field.name: getattr(config, field.name) for field in fields(config)}, **_own_name(config)}
        )
        if code == 0:
            return store
        store.close()
        if time.monotonic() + _RETRY_SECONDS > end:
            _logger.error("no store within %g s: setup answered %d", seconds, code)
            return None
        _logger.warning("setup answered %d; tried again in %g s", code, _RETRY_SECONDS)
        time.sleep(_RETRY_SECONDS)
    return None


def _own_name(config: MooncakeConfig) -> dict[str, str]:
    """What stands for localhost, the name where none is set: another machine finds itself at localhost."""
    if config.local_hostname != "localhost":
        return {}
    try:
        return {"local_hostname": advertised_host("", config.master_server_address, os.environ)}
    except (OSError, ValueError) as problem:  # the masters' name may come later; setup says what is wrong with a list
        _logger.warning("no address of this machine for %s: %s", config.master_server_address, problem)
        return {}


async def serve(config: MooncakeConfig, options: argparse.Namespace) -> int:
    """Runs until SIGTERM or SIGINT."""
    from aiohttp import web

    from mooncake.rest.routes import Routes

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    store = await asyncio.to_thread(connect, config, options.max_wait_time, stop)
    if store is None:
        return 0 if stop.is_set() else 1
    runner = web.AppRunner(Routes(store).application())
    try:
        await runner.setup()
        await web.TCPSite(runner, options.host, options.port).start()
        _logger.info("serving on %s:%d", options.host, options.port)
        await stop.wait()
        return 0
    finally:
        await runner.cleanup()
        store.close()


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when it was stopped, 1 when it could not start, 2 for wrong settings."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    options = parse(sys.argv[1:] if arguments is None else arguments)
    try:
        config = read_config(options)
    except (OSError, ValueError) as problem:
        _logger.error("%s", problem)
        return _USAGE
    try:
        return asyncio.run(serve(config, options))
    except ModuleNotFoundError as problem:
        _logger.error("%s: pip install aiohttp", problem)
        return 1
    except OSError as problem:
        _logger.error("cannot listen on %s:%d: %s", options.host, options.port, problem)
        return 1


if __name__ == "__main__":
    sys.exit(main())
