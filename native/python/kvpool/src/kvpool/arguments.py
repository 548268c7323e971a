# SPDX-License-Identifier: Apache-2.0
"""Arguments of the Python API in the form that the C ABI takes."""

import functools
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

from kvpool import _kvpool
from kvpool.status import error_of

_P = ParamSpec("_P")
_R = TypeVar("_R")

_PROTOCOLS = {
    "tcp": _kvpool.KV_PROTOCOL_TCP,
    "shm": _kvpool.KV_PROTOCOL_SHM,
    "ucx": _kvpool.KV_PROTOCOL_UCX,
    "ascend": _kvpool.KV_PROTOCOL_ASCEND,
}
_MAX_MS = 2**32 - 1


def raising_kvpool_errors(call: Callable[_P, _R]) -> Callable[_P, _R]:
    """Turns the extension's Failure(status, message) into a KvpoolError of its kind."""

    @functools.wraps(call)
    def wrapped(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return call(*args, **kwargs)
        except _kvpool.Failure as failure:
            raise error_of(*failure.args) from None

    return wrapped


def milliseconds(seconds: float, name: str) -> int:
    """Whole milliseconds, at least 1. ValueError for what is no time or longer than the ABI can say (49 days)."""
    if not 0 < seconds * 1000 <= _MAX_MS:
        raise ValueError(f"{name} is {seconds!r} s, but must be more than 0 and at most {_MAX_MS // 1000} s")
    return max(1, round(seconds * 1000))


def protocol_bits(names: Iterable[str]) -> int:
    bits = 0
    for name in names:
        if name not in _PROTOCOLS:
            raise ValueError(f"unknown protocol {name!r}; this build has {', '.join(sorted(_PROTOCOLS))}")
        bits |= _PROTOCOLS[name]
    if bits == 0:
        raise ValueError(f"no protocol given; this build has {', '.join(sorted(_PROTOCOLS))}")
    return bits


def payloads_number(payloads: str | None) -> int:
    """KV_PAYLOADS_*. A client may insist on encryption; nothing else is a client's to say."""
    if payloads is None:
        return 0
    if payloads != "encrypted":
        raise ValueError(
            f"payloads is {payloads!r}, but must be 'encrypted', or be left out for what each storage node is set to"
        )
    return 1


def engine_payloads_number(payloads: str | None) -> int:
    """KV_PAYLOADS_*, of which both transfer engines of a connection have a say."""
    if payloads not in (None, "encrypted", "authenticated"):
        raise ValueError(f"payloads is {payloads!r}, but must be 'encrypted', the default, or 'authenticated'")
    return {None: 0, "encrypted": 1, "authenticated": 2}[payloads]


def master_list(masters: str | Iterable[str]) -> str:
    """`HOST:PORT[,HOST:PORT...]` from that or from a list of single addresses."""
    parts = masters.split(",") if isinstance(masters, str) else list(masters)
    addresses = [part.strip() for part in parts]
    if not any(addresses):
        raise ValueError("no master given; masters is HOST:PORT[,HOST:PORT...]")
    return ",".join(address for address in addresses if address)
