# SPDX-License-Identifier: Apache-2.0
"""Instances among pods: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kvpool_engines.proxy.instances.description import Description, Role, WrongInstances, read_url

ROLE_LABEL = "kvpool.dev/pd-role"
PORT_ANNOTATION = "kvpool.dev/pd-port"
BOOTSTRAP_PORT_ANNOTATION = "kvpool.dev/pd-bootstrap-port"


def instances_of(pods: list[Mapping[str, Any]], port: int) -> tuple[list[Description], list[str]]:
    """The instances that run in pods which are ready and stay, and what is wrong with the others that have the label.

    Args:
        pods: as the API server lists them.
        port: where an engine listens whose pod does not say.
    """
    found: list[Description] = []
    problems: list[str] = []
    for pod in pods:
        try:
            found.extend(_instance(pod, port))
        except WrongInstances as problem:
            problems.append(f"pod {pod.get('metadata', {}).get('name')}: {problem}")
    return found, problems


def _instance(pod: Mapping[str, Any], port: int) -> Iterator[Description]:
    metadata, status = pod.get("metadata", {}), pod.get("status", {})
    address = status.get("podIP")
    conditions = {it.get("type"): it.get("status") for it in status.get("conditions") or []}
    if not address or metadata.get("deletionTimestamp") or conditions.get("Ready") != "True":
        return
    role = (metadata.get("labels") or {}).get(ROLE_LABEL)
    if role not in [one.value for one in Role]:
        raise WrongInstances(f"label {ROLE_LABEL} is {role!r}: write 'prefill' or 'decode'")
    annotations = metadata.get("annotations") or {}
    host = f"[{address}]" if ":" in address else address
    url = read_url(f"http://{host}:{_port(annotations, PORT_ANNOTATION, port)}")
    yield Description(url, Role(role), _port(annotations, BOOTSTRAP_PORT_ANNOTATION, 0))


def _port(annotations: Mapping[str, str], name: str, default: int) -> int:
    text = annotations.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 1 << 16):
        raise WrongInstances(f"annotation {name} is {text!r}: write a port number")
    return int(text)
