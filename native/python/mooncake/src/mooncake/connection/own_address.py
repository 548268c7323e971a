# SPDX-License-Identifier: Apache-2.0
"""How other machines reach this one."""

from __future__ import annotations

import socket
from collections.abc import Mapping

_WILDCARDS = frozenset(("", "0.0.0.0", "::"))


def advertised_host(host: str, masters: str, environment: Mapping[str, str]) -> str:
    """The host given, or for an address that names no machine POD_IP, or the address that packets to the first master leave
    from. Raises OSError where the master has no address, ValueError for one without a port."""
    if host not in _WILDCARDS:
        return host
    if environment.get("POD_IP"):
        return environment["POD_IP"]
    master, _, port = masters.split(",")[0].strip().rpartition(":")
    for family, kind, _, _, address in socket.getaddrinfo(master.strip("[]"), int(port), type=socket.SOCK_DGRAM):
        with socket.socket(family, kind) as probe:  # no packet is sent
            probe.connect(address)
            return str(probe.getsockname()[0])
    raise OSError(f"{master} has no address")
