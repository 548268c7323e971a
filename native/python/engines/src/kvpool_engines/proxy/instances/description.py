# SPDX-License-Identifier: Apache-2.0
"""Instances as files, requests and flags describe them: pure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

INSTANCES_MAX = 1024
_KEYS = ("url", "role", "bootstrap_port")


class Role(Enum):
    PREFILL = "prefill"
    DECODE = "decode"


class WrongInstances(ValueError):
    """A description is wrong. The message says where, and what to write instead."""


@dataclass(frozen=True)
class Description:
    """An engine: `url` is http://HOST:PORT, `bootstrap_port` 0 where the scheme's default holds."""

    url: str
    role: Role
    bootstrap_port: int = 0

    @property
    def host(self) -> str:
        """Without brackets."""
        return urlsplit(self.url).hostname or ""


def read_descriptions(content: str | bytes) -> list[Description]:
    """Instances of a JSON text: `{"instances": [...]}`, a list, or one instance."""
    try:
        given = json.loads(content)
    except (ValueError, RecursionError) as problem:
        raise WrongInstances(f"no JSON: {problem}") from None
    if isinstance(given, dict) and "instances" in given:
        given = given["instances"]
    listed = given if isinstance(given, list) else [given]
    if len(listed) > INSTANCES_MAX:
        raise WrongInstances(f"{len(listed)} instances: at most {INSTANCES_MAX} can be served by one proxy")
    return list(dict.fromkeys(_description(one) for one in listed))


def _description(given: Any) -> Description:
    if not isinstance(given, dict):
        raise WrongInstances(f'{given!r} is no instance: write {{"url": "http://HOST:PORT", "role": "prefill"}}')
    unknown = [key for key in given if key not in _KEYS]
    if unknown:
        raise WrongInstances(f"{unknown[0]} is no key of an instance: there are {', '.join(_KEYS)}")
    try:
        role = Role(given.get("role"))
    except ValueError:
        raise WrongInstances(f"role is {given.get('role')!r}: write 'prefill' or 'decode'") from None
    return Description(read_url(given.get("url")), role, read_port(given.get("bootstrap_port", 0)))


def read_url(given: Any) -> str:
    """A URL without what does not tell instances apart."""
    wrong = WrongInstances(f"url is {given!r}: write 'http://HOST:PORT', without a path")
    if not isinstance(given, str):
        raise wrong
    try:
        parts = urlsplit(given)
        port = parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not port or "@" in parts.netloc:
        raise wrong
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise wrong
    return f"{parts.scheme}://{parts.netloc.lower()}"


def read_port(given: Any) -> int:
    """A port, 0 for none."""
    if type(given) is not int or not 0 <= given < 1 << 16:
        raise WrongInstances(f"bootstrap_port is {given!r}: write a port number, or 0 for the scheme's default")
    return given
