# SPDX-License-Identifier: Apache-2.0
"""Whether the tenant that an engine names is the one that its certificate makes it."""

from __future__ import annotations

import re
import ssl
from pathlib import Path

from kvpool.enrolment import certificate_directory

DEFAULT = "default"

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)

# The URI among the alternative names, [6] in DER, with its length: spiffe://POOL-ID/tenant/TENANT/rw/NAME.
_NAME = re.compile(
    rb"\x86(?:[\x00-\x7f]|\x81.|\x82..)spiffe://[-0-9a-f]{36}/tenant/([-a-z0-9]{1,63})/r[wo]/", re.DOTALL
)


class NotOurTenantError(Exception):
    """The message names both tenants and the remedy."""


def check_tenant(tenant: str, tls_dir: str | None, timeout: float) -> None:
    """Raises NotOurTenantError when `tenant` is neither `default`, which is whatever tenant a process has, nor its own.

    Enrols as a client does, for at most about `timeout` seconds, where the process has no certificate yet; KvpoolError when
    that fails. A certificate that cannot be read is left to the client, which says what is wrong with it.
    """
    if tenant == DEFAULT:
        return
    directory = certificate_directory(tls_dir, timeout)
    own = DEFAULT if directory is None else _tenant_in(Path(directory) / "tls.crt")
    if own is not None and own != tenant:
        source = "it has no certificate" if directory is None else f"by {directory}/tls.crt"
        raise NotOurTenantError(
            f"tenant_id is {tenant[:80]!r}, but this process is of tenant {own!r}: {source}, and the name alone "
            "gives no access"
        )


def _tenant_in(certificate: Path) -> str | None:
    """That of the first certificate, `default` where it names none; None when it cannot be read."""
    try:
        block = _PEM.search(certificate.read_text("ascii"))
        if block is None:
            return None
        named = _NAME.search(ssl.PEM_cert_to_DER_cert(block[0]))
    except (OSError, ValueError):
        return None
    return DEFAULT if named is None else named[1].decode()
