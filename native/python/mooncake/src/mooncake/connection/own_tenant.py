# SPDX-License-Identifier: Apache-2.0
"""Whether the tenant that an engine names is the one that its certificate makes it."""

from __future__ import annotations

from pathlib import Path

from kvpool.enrolment import certificate_directory
from kvpool.foreign_names import beside
from kvpool.own_name import DEFAULT_TENANT, name_in


class NotOurTenantError(Exception):
    """The message names both tenants and the remedy."""


def check_tenant(tenant: str, tls_dir: str | None, timeout: float) -> None:
    """Raises NotOurTenantError when `tenant` is neither `default`, which is whatever tenant a process has, nor its own.

    Enrols as a client does, for at most about `timeout` seconds, where the process has no certificate yet; KvpoolError when
    that fails. A certificate that cannot be read is left to the client, which says what is wrong with it.
    """
    if tenant == DEFAULT_TENANT:
        return
    directory = certificate_directory(tls_dir, timeout)
    own = DEFAULT_TENANT if directory is None else _tenant_in(Path(directory) / "tls.crt")
    if own is not None and own != tenant:
        source = "it has no certificate" if directory is None else f"by {directory}/tls.crt"
        raise NotOurTenantError(
            f"tenant_id is {tenant[:80]!r}, but this process is of tenant {own!r}: {source}, and the name alone "
            "gives no access"
        )


def _tenant_in(certificate: Path) -> str | None:
    """None when it cannot be read."""
    try:
        return name_in(certificate.read_bytes(), beside(certificate.parent)).tenant
    except (OSError, ValueError):
        return None
