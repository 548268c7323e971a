# SPDX-License-Identifier: Apache-2.0
"""The arguments of `kvpool` that do what a command line of the reference asks for: pure."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

# Of the low watermark, which the reference does not have: an eviction there frees a share of the objects.
_LOW_MIN = 0.01

# Any fixed UUID: with it a name gives the same pool id on every machine.
_NAMES = uuid.UUID("5f0c3c51-0c0f-4d5a-9f0b-7a2f6d1f2f60")


def pool_id(cluster_id: str) -> str:
    """Masters of one name serve one pool, whenever and wherever they start: engines stay with what they hold."""
    return str(uuid.uuid5(_NAMES, cluster_id))


def of_master(values: Mapping[str, object]) -> list[str]:
    """What `mooncake_master` runs: one master, and no storage nodes, as engines and clients bring the memory."""
    high = float(str(values["eviction_high_watermark_ratio"]))
    low = max(_LOW_MIN, round(high - float(str(values["eviction_ratio"])), 6))
    if not low < high:
        raise ValueError(
            f"--eviction_high_watermark_ratio is {high:g} and --eviction_ratio {values['eviction_ratio']}: "
            f"eviction must end below the share at which it begins"
        )
    soft_pinned = "true" if values["allow_evict_soft_pinned_objects"] else "false"
    return [
        "local",
        "--parent-watch",
        *("--masters", "1", "--storage-nodes", "0", "--restart"),
        *("--pool-id", pool_id(str(values["cluster_id"]))),
        *("--host", str(values["rpc_address"])),
        *("--master-port", str(values["rpc_port"] or values["port"])),
        *("--admin-port", str(values["metrics_port"])),
        *("--object-lease", f"{values['default_kv_lease_ttl']}ms"),
        *("--soft-pin-ttl", f"{values['default_kv_soft_pin_ttl']}ms"),
        *("--allow-evict-soft-pinned", soft_pinned),
        *("--eviction-high-watermark", f"{high:g}"),
        *("--eviction-low-watermark", f"{low:g}"),
    ]


def of_agent(
    masters: str, socket_directory: str, socket_name: str, http_port: int, certificates: str | None
) -> list[str]:
    """What serves clients on the same machine that use setup_dummy(), by a file or a name, and probes at the port."""
    # Any port for admin HTTPS, which no command of the reference has: a machine may have several agents.
    secure = [] if certificates is None else ["--tls-dir", certificates, "--secure-admin-port", "0"]
    return [
        "agent",
        "--parent-watch",
        *("--masters", masters, "--socket-dir", socket_directory, "--abstract-socket", socket_name),
        *("--admin-port", str(http_port)),
        *secure,
    ]
