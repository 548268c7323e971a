# SPDX-License-Identifier: Apache-2.0
"""mooncake.mooncake_config: what engines are configured with, from a file or from the environment."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mooncake.configuration.sizes import parse_size

DEFAULT_GLOBAL_SEGMENT_SIZE = 3_355_443_200
DEFAULT_LOCAL_BUFFER_SIZE = 1 << 30

_REQUIRED = ("local_hostname", "metadata_server", "master_server_address")
_TRUTHS = {
    "true": True,
    "1": True,
    "yes": True,
    "on": True,
    "false": False,
    "0": False,
    "no": False,
    "off": False,
    "": False,
}


@dataclass
class MooncakeConfig:
    """Settings by the names that engines' files have; the arguments of setup() are the first seven, in this order, with
    device_name for rdma_devices and master_server_address for master_server_addr."""

    local_hostname: str
    metadata_server: str
    global_segment_size: int
    local_buffer_size: int
    protocol: str
    device_name: str | None
    master_server_address: str
    enable_ssd_offload: bool = False
    ssd_offload_path: str = ""
    tenant_id: str = "default"
    enable_client_http_server: bool = False
    client_http_port: int = 9300

    @staticmethod
    def from_file(file_path: str) -> MooncakeConfig:
        """Reads a JSON file. ValueError names what is missing or wrong in it."""
        with open(file_path, encoding="utf-8") as file:
            given = json.load(file)
        if not isinstance(given, dict):
            raise ValueError(f"{file_path} holds no JSON object")
        missing = [name for name in _REQUIRED if name not in given]
        if missing:
            raise ValueError(f"Missing required config field: {', '.join(missing)}")
        return _read(given, {field: field for field in MooncakeConfig.__dataclass_fields__})

    @staticmethod
    def load_from_env() -> MooncakeConfig:
        """Reads the file that MOONCAKE_CONFIG_PATH names; without it, variables: MOONCAKE_MASTER, which must be set, and
        MOONCAKE_LOCAL_HOSTNAME, _TE_META_DATA_SERVER, _GLOBAL_SEGMENT_SIZE, _LOCAL_BUFFER_SIZE, _PROTOCOL, _DEVICE,
        _OFFLOAD_ENABLED, _OFFLOAD_FILE_STORAGE_PATH, _TENANT_ID, _ENABLE_CLIENT_HTTP_SERVER and _CLIENT_HTTP_PORT.
        ValueError names what is missing or wrong."""
        path = os.environ.get("MOONCAKE_CONFIG_PATH")
        if path is not None:
            return MooncakeConfig.from_file(path)
        if not os.environ.get("MOONCAKE_MASTER"):
            raise ValueError("neither MOONCAKE_CONFIG_PATH nor MOONCAKE_MASTER is set in the environment")
        return _read(os.environ, _VARIABLES)


_VARIABLES = {
    "local_hostname": "MOONCAKE_LOCAL_HOSTNAME",
    "metadata_server": "MOONCAKE_TE_META_DATA_SERVER",
    "global_segment_size": "MOONCAKE_GLOBAL_SEGMENT_SIZE",
    "local_buffer_size": "MOONCAKE_LOCAL_BUFFER_SIZE",
    "protocol": "MOONCAKE_PROTOCOL",
    "device_name": "MOONCAKE_DEVICE",
    "master_server_address": "MOONCAKE_MASTER",
    "enable_ssd_offload": "MOONCAKE_OFFLOAD_ENABLED",
    "ssd_offload_path": "MOONCAKE_OFFLOAD_FILE_STORAGE_PATH",
    "tenant_id": "MOONCAKE_TENANT_ID",
    "enable_client_http_server": "MOONCAKE_ENABLE_CLIENT_HTTP_SERVER",
    "client_http_port": "MOONCAKE_CLIENT_HTTP_PORT",
}


def _text(value: object) -> str:
    return str(value)


def _truth(value: object) -> bool:
    known = _TRUTHS.get("" if value is None else str(value).strip().lower())
    if known is None:
        raise ValueError(f"is {value!r}, but must be true or false")
    return known


def _port(value: object) -> int:
    text = str(value).strip()
    if not text.isascii() or not text.isdecimal() or len(text) > 5 or int(text) > 65535:
        raise ValueError(f"is {value!r}, but must be a port, 0 to 65535")
    return int(text)


# Of each field the default and what reads a value.
_FIELDS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "local_hostname": ("localhost", _text),
    "metadata_server": ("P2PHANDSHAKE", _text),
    "global_segment_size": (DEFAULT_GLOBAL_SEGMENT_SIZE, parse_size),
    "local_buffer_size": (DEFAULT_LOCAL_BUFFER_SIZE, parse_size),
    "protocol": ("tcp", _text),
    "device_name": ("", lambda value: value),
    "master_server_address": ("", _text),
    "enable_ssd_offload": (False, _truth),
    "ssd_offload_path": ("", lambda value: "" if value is None else str(value)),
    "tenant_id": ("default", lambda value: "default" if value is None else str(value)),
    "enable_client_http_server": (False, _truth),
    "client_http_port": (9300, _port),
}


def _read(given: Mapping[str, Any], names: Mapping[str, str]) -> MooncakeConfig:
    values: dict[str, Any] = {}
    problems = []
    for field, (default, read) in _FIELDS.items():
        name = names[field]
        try:
            values[field] = read(given[name]) if name in given else default
        except ValueError as problem:
            problems.append(f"{name} {problem}")
    if problems:
        raise ValueError("; ".join(problems))
    return MooncakeConfig(**values)
