# SPDX-License-Identifier: Apache-2.0
"""Who this process is by its own certificate. Python tells of that nothing but its bytes."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass

DEFAULT_TENANT = "default"

_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)

# The URI among the alternative names, [6] in DER, with its length: spiffe://POOL-ID/tenant/TENANT/rw/NAME, or of another role.
_NAME = re.compile(
    rb"\x86(?:[\x00-\x7f]|\x81.|\x82..)spiffe://(?P<pool>[0-9a-f-]{36})/(?:tenant/(?P<tenant>[-a-z0-9]{1,63})/r[wo]/)?",
    re.DOTALL,
)


@dataclass(frozen=True)
class OwnName:
    """The pool that a process is of, and its tenant there: `default` where the certificate names none."""

    pool: str
    tenant: str


def name_in(pem: bytes) -> OwnName:
    """That of the first certificate of a file, which is the process's own. Raises ValueError where it has none."""
    block = _PEM.search(pem)
    if block is None:
        raise ValueError("tls.crt has no certificate")
    named = {
        OwnName(match["pool"].decode(), (match["tenant"] or DEFAULT_TENANT.encode()).decode())
        for match in _NAME.finditer(ssl.PEM_cert_to_DER_cert(block[0].decode("ascii")))
    }
    if len(named) != 1:
        raise ValueError("tls.crt has no name spiffe://POOL-ID/...")
    return named.pop()
