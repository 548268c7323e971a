# SPDX-License-Identifier: Apache-2.0
"""Connections to engines, which end when the other machine is gone."""

from __future__ import annotations

import socket
from typing import Any

_PROBES = 3


def engine_socket(address: tuple[Any, ...], seconds: float) -> socket.socket:
    """A socket for an address as of getaddrinfo(), that fails when the other side's kernel has acknowledged nothing for about
    `seconds`.

    A machine that lost its power or its network says nothing, and a request would wait for it as long as for a busy engine. The
    kernel of a machine whose engine is busy acknowledges.
    """
    opened = socket.socket(*address[:3])
    between = max(1, int(seconds / _PROBES))
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, between)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, between)
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)
    # A connection with bytes that are not acknowledged sends no probes.
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, int(seconds * 1000)))
    return opened
