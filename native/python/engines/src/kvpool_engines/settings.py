# SPDX-License-Identifier: Apache-2.0
"""What the configuration of a plugin may say: pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

_TIME = re.compile(r"([1-9]\d{0,8})(ms|s|m)", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0}
_ADDRESS = re.compile(r"[^\s,]+:\d{1,5}")
_PROTOCOLS = ("shm", "ascend", "ucx", "tcp")
_VARIABLES = {
    "masters": "MOONCAKE_MASTER",
    "protocols": "KVPOOL_PROTOCOLS",
    "connect_timeout": "KVPOOL_CONNECT_TIMEOUT",
    "transfer_timeout": "KVPOOL_TRANSFER_TIMEOUT",
    "idle_timeout": "KVPOOL_IDLE_TIMEOUT",
    "tls_dir": "KVPOOL_TLS_DIR",
    "payloads": "KVPOOL_PAYLOADS",
}
_NAMESPACE_BYTES_MAX = 256


class WrongSettings(ValueError):
    """The configuration is wrong. The message has every problem, each with its key and what to write instead."""


@dataclass(frozen=True)
class Settings:
    """A plugin's settings.

    Args:
        masters: all masters of the pool, "HOST:PORT,HOST:PORT".
        protocols: how bytes may go.
        namespace: begins all keys: engines share what they store where they have the same.
        replicas: copies of each object; 0 is the pool's default.
        start_timeout: seconds the start of the engine waits for the pool. It starts without it then, and finds nothing.
        lookup_timeout: seconds after which a lookup answers that nothing is there.
        load_timeout: seconds after which a load ends with what it has.
        store_timeout: seconds after which a store is given up.
        connect_timeout, transfer_timeout, idle_timeout: as of kvpool.Client.
        tls_dir: as of kvpool.Client, an absolute path. Default: no TLS.
        payloads: as of kvpool.Client.
    """

    masters: str
    protocols: tuple[str, ...] = ("shm", "tcp")
    namespace: str = ""
    replicas: int = 0
    start_timeout: float = 5.0
    lookup_timeout: float = 0.1
    load_timeout: float = 10.0
    store_timeout: float = 10.0
    connect_timeout: float = 3.0
    transfer_timeout: float = 30.0
    idle_timeout: float = 300.0
    tls_dir: str | None = None
    payloads: str | None = None


def read_settings(
    given: Mapping[str, Any], environment: Mapping[str, str], where: str, others: Iterable[str] = ()
) -> Settings:
    """The settings of a configuration.

    Args:
        given: the configuration.
        environment: has some settings that the configuration may leave out, as the ConfigMap of a pool sets them.
        where: how users know the configuration.
        others: keys of it that are not for Settings.
    """
    known = [field.name for field in fields(Settings)]
    values: dict[str, Any] = {}
    problems = [_unknown(key, known) for key in given if key not in known and key not in others]
    for key, variable in _VARIABLES.items():
        text = environment.get(variable, "")
        if key not in given and text:
            _read(key, text, f"environment variable {variable}", values, problems)
    for key in known:
        if key in given:
            _read(key, given[key], key, values, problems)
    if "masters" not in values and "masters" not in given and not environment.get("MOONCAKE_MASTER"):
        problems.append(
            "masters is missing: name all masters of the pool, for example 'm0:50051,m1:50051', or set environment "
            "variable MOONCAKE_MASTER"
        )
    if problems:
        raise WrongSettings(f"{where}: {'; '.join(problems)}")
    return Settings(**values)


def _unknown(key: str, known: list[str]) -> str:
    close = difflib.get_close_matches(key, known, 1)
    return f"{key} is no setting: " + (f"write {close[0]}" if close else f"there are {', '.join(known)}")


def _read(key: str, value: Any, name: str, values: dict[str, Any], problems: list[str]) -> None:
    try:
        values[key] = _READERS[key](value)
    except ValueError as problem:
        problems.append(f"{name} is {value!r}: {problem}")


def _masters(value: Any) -> str:
    addresses = value.split(",") if isinstance(value, str) else value
    if not isinstance(addresses, list) or not all(isinstance(address, str) for address in addresses):
        raise ValueError("write 'HOST:PORT,HOST:PORT' or a list of such addresses")
    addresses = [address.strip() for address in addresses]
    wrong = [address for address in addresses if not _ADDRESS.fullmatch(address)]
    if wrong or not addresses:
        raise ValueError(f"{wrong[0]!r} is no HOST:PORT" if wrong else "name at least one master")
    return ",".join(addresses)


def _protocols(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list) or not names or any(name not in _PROTOCOLS for name in names):
        raise ValueError(f"write one or more of {', '.join(_PROTOCOLS)}, separated by commas")
    return tuple(names)


def _namespace(value: Any) -> str:
    if not isinstance(value, str) or len(value.encode()) > _NAMESPACE_BYTES_MAX:
        raise ValueError(f"write a text of at most {_NAMESPACE_BYTES_MAX} bytes")
    return value


def _replicas(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= 16:
        raise ValueError("write a number from 0, the pool's default, to 16")
    return value


def _directory(value: Any) -> str:
    if not isinstance(value, str) or not value.startswith("/"):
        raise ValueError("write the absolute path of a directory with tls.crt, tls.key and ca.crt")
    return value


def _payloads(value: Any) -> str:
    if value != "encrypted":
        raise ValueError("write encrypted, or leave it out for what each storage node is set to")
    return str(value)


def read_time(value: Any) -> float:
    """Seconds. Raises ValueError, which says what to write."""
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise ValueError("write a whole number with a unit ms, s or m, for example '100ms'")
    return int(match[1]) * _SECONDS[match[2]]


_READERS: dict[str, Callable[[Any], Any]] = {
    "masters": _masters,
    "protocols": _protocols,
    "namespace": _namespace,
    "replicas": _replicas,
    "start_timeout": read_time,
    "lookup_timeout": read_time,
    "load_timeout": read_time,
    "store_timeout": read_time,
    "connect_timeout": read_time,
    "transfer_timeout": read_time,
    "idle_timeout": read_time,
    "tls_dir": _directory,
    "payloads": _payloads,
}
