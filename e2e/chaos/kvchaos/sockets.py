# SPDX-License-Identifier: Apache-2.0
"""Ports of this machine, as the kernel knows them."""

import random
import socket
from pathlib import Path

_LISTENING = "0A"
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


def listening() -> set[tuple[str, int]]:
    """IPv4 addresses and ports on which anyone listens: asked of the kernel, since a connection would be noticed by who
    listens."""
    found = set()
    for table in _TABLES:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, local, _, state = line.split(maxsplit=4)[:4]
            if state == _LISTENING:
                address, port = local.split(":")
                # An IPv4 address in the table of IPv6 is at its end, with the bytes of each word turned round.
                found.add((socket.inet_ntoa(bytes.fromhex(address[-8:])[::-1]), int(port, 16)))
    return found


def free_ports(count: int, random_: random.Random) -> int:
    """The first of `count` neighbouring ports that nobody uses, below those that the kernel hands out."""
    for _ in range(200):
        first = random_.randrange(15_000, 30_000)
        probes: list[socket.socket] = []
        try:
            for port in range(first, first + count):
                probes.append(socket.socket())
                probes[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probes[-1].bind(("0.0.0.0", port))
            return first
        except OSError:
            continue
        finally:
            for probe in probes:
                probe.close()
    raise RuntimeError(f"no {count} neighbouring free ports among 15000 to 30000")
