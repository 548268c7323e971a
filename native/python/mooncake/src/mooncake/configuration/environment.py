# SPDX-License-Identifier: Apache-2.0
"""Settings of the client for which setup() has no argument, from the environment: pure.

On Kubernetes they come from the pool's TransferEngine, by the ConfigMap NAME-client. `kvpool node` reads variables of the
same names in the same forms.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TIME = re.compile(r"([1-9]\d{0,8})(ms|s|m)", re.ASCII)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0}
_PROTOCOLS = ("shm", "tcp")
_KNOWN_PROTOCOLS = {"shm", "ascend", "ucx", "tcp"}


@dataclass(frozen=True)
class ClientOptions:
    """What kvpool.Client is made with."""

    protocols: tuple[str, ...] = _PROTOCOLS
    timeout: float = 30.0  # seconds, retries included
    connect_timeout: float = 3.0
    transfer_timeout: float = 30.0
    idle_timeout: float = 300.0
    reuse: bool = False  # see kvpool.Client.get_into_memory
    busy_wait: bool = True
    tls_dir: str | None = None
    payloads: str | None = None  # "encrypted", or as each storage node is set
    trusted_fabric: bool = False  # memory of this process serves ascend beside certificates


def parse_time(text: str) -> float:
    """Seconds of "500ms", "10s" or "2m"."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"is {text!r}, but must be a whole number with a unit ms, s or m, for example 10s")
    return int(match[1]) * _SECONDS[match[2]]


def parse_protocols(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    if not set(names) <= _KNOWN_PROTOCOLS or len(set(names)) != len(names):
        raise ValueError(f"is {text!r}, but must name one or more of shm, ascend, ucx and tcp, separated by commas")
    return names


def parse_switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError(f"is {text!r}, but must be on or off")
    return text == "on"


def parse_directory(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError(f"is {text!r}, but must be the absolute path of a directory with tls.crt, tls.key and ca.crt")
    return text


def parse_payloads(text: str) -> str:
    if text != "encrypted":
        raise ValueError(f"is {text!r}, but must be encrypted, or not be set for what each storage node is set to")
    return text


def parse_engine_payloads(text: str) -> str:
    if text not in ("encrypted", "authenticated"):
        raise ValueError(f"is {text!r}, but must be encrypted or authenticated")
    return text


def parse_truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"is {text!r}, but must be true or false")
    return text == "true"


_VARIABLES = {
    "KVPOOL_PROTOCOLS": ("protocols", parse_protocols),
    "KVPOOL_RETRY_DEADLINE": ("timeout", parse_time),
    "KVPOOL_CONNECT_TIMEOUT": ("connect_timeout", parse_time),
    "KVPOOL_TRANSFER_TIMEOUT": ("transfer_timeout", parse_time),
    "KVPOOL_IDLE_TIMEOUT": ("idle_timeout", parse_time),
    "KVPOOL_REUSE": ("reuse", parse_switch),
    "KVPOOL_BUSY_WAIT": ("busy_wait", parse_switch),
    "KVPOOL_TLS_DIR": ("tls_dir", parse_directory),
    "KVPOOL_PAYLOADS": ("payloads", parse_payloads),
    "KVPOOL_TRUSTED_FABRIC": ("trusted_fabric", parse_truth),
}


def read_environment(environment: Mapping[str, str]) -> tuple[ClientOptions, list[str]]:
    """The options, and every problem there is. An empty variable counts as not set."""
    values: dict[str, object] = {}
    problems: list[str] = []
    for variable, (option, parse) in _VARIABLES.items():
        text = environment.get(variable, "")
        try:
            if text:
                values[option] = parse(text)
        except ValueError as problem:
            problems.append(f"environment variable {variable} {problem}")
    return (ClientOptions() if problems else ClientOptions(**values)), problems  # type: ignore[arg-type]
