# SPDX-License-Identifier: Apache-2.0
"""Who this process is by its own certificate. Python tells of that nothing but its bytes."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass

from kvpool.foreign_names import ForeignNames

DEFAULT_TENANT = "default"

_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)

# The URI among the alternative names, [6] in DER, with its length: spiffe://POOL-ID/tenant/TENANT/rw/NAME, or of another role.
_NAME = re.compile(
    rb"\x86(?:[\x00-\x7f]|\x81.|\x82..)spiffe://(?P<pool>[0-9a-f-]{36})/(?:tenant/(?P<tenant>[-a-z0-9]{1,63})/r[wo]/)?",
    re.DOTALL,
)

# The same of others.
_URI = re.compile(rb"\x86(?:[\x00-\x7f]|\x81.|\x82..)(?P<uri>spiffe://[!-~]*)", re.DOTALL)


@dataclass(frozen=True)
class OwnName:
    """The pool that a process is of, and its tenant there: `default` where the certificate names none."""

    pool: str
    tenant: str


def name_in(pem: bytes, foreign: ForeignNames) -> OwnName:
    """That of the first certificate of a file, which is the process's own. Raises ValueError where it has none.

    `foreign` says what names of others stand for.
    """
    block = _PEM.search(pem)
    if block is None:
        raise ValueError("tls.crt has no certificate")
    der = ssl.PEM_cert_to_DER_cert(block[0].decode("ascii"))
    named = {
        OwnName(match["pool"].decode(), (match["tenant"] or DEFAULT_TENANT.encode()).decode())
        for match in _NAME.finditer(der)
    }
    for part in (_foreign_part(match, der, foreign) for match in _URI.finditer(der)):
        if part is not None:
            named.add(OwnName(foreign.pool, part.split(" ")[1] if part.startswith("tenant ") else DEFAULT_TENANT))
    if len(named) != 1:
        raise ValueError("tls.crt has no name spiffe://POOL-ID/...")
    return named.pop()


def _foreign_part(match: re.Match[bytes], der: bytes, foreign: ForeignNames) -> str | None:
    """What follows the URI in the certificate may be printable as well: its length says where it ends."""
    begin = match.start("uri")
    lengths = der[match.start() + 1 : begin]
    length = lengths[0] if len(lengths) == 1 else int.from_bytes(lengths[1:], "big")
    return foreign.part(der[begin : begin + length].decode("ascii", "replace"))
