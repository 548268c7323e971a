# SPDX-License-Identifier: Apache-2.0
"""A connection to a master's admin HTTPS: it is a master because its certificate says so, at whatever address it is."""

from __future__ import annotations

import re
import ssl
from collections.abc import Mapping

from kvpool.foreign_names import ForeignNames
from kvpool.status import Status

_MASTER = re.compile(r"spiffe://([0-9a-f-]{36})/master/[a-z0-9.-]{1,253}", re.ASCII)
_CERTIFICATE_REFUSED = re.compile("ALERT_(.*CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)")


class NotAnswered(Exception):
    """One master did not do what it was asked. Its text says what it answered, or why it did not.

    Args:
        status: what a KvpoolError of it has.
        passes: the same question may be answered otherwise a little later.
    """

    def __init__(self, text: str, status: Status, *, passes: bool) -> None:
        super().__init__(text)
        self.status = status
        self.passes = passes


def client_context() -> ssl.SSLContext:
    """TLS 1.3. Its user adds roots, and looks at pool_of_master() when it is connected: names of hosts say nothing."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    return context


def pool_of_master(
    certificate: Mapping[str, object] | None, remark: str = "", foreign: ForeignNames | None = None
) -> str:
    """The id of the pool of which a verified certificate, as getpeercert() gives it, is a master's.

    Raises NotAnswered when it is of another role, with `remark` in its text. `foreign` says what names of others stand for.
    """
    names = (certificate or {}).get("subjectAltName", ())
    uris = [value for kind, value in names if kind == "URI"] if isinstance(names, tuple) else []
    if foreign is not None and len(uris) == 1 and foreign.part(uris[0]) == "master":
        return foreign.pool
    match = _MASTER.fullmatch(uris[0]) if len(uris) == 1 else None
    if match is None:
        raise NotAnswered(
            f"its certificate is that of {', '.join(uris)[:300] or 'no member of a pool'}, not of a master{remark}: is the"
            " address right?",
            Status.IDENTITY_MISMATCH,
            passes=False,
        )
    return match[1]


def unreachable(error: Exception, port_setting: str) -> NotAnswered:
    """What an OSError or HTTPException of a connection with TLS means. `port_setting` says where its port is written."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return NotAnswered(
            f"its certificate does not lead to ca.crt ({error.verify_message}); take that of the pool's ConfigMap POOL-trust"
            " (kubectl kvpool client-config prints it for copies in other namespaces), and compare the clocks",
            Status.IDENTITY_MISMATCH,
            passes=False,
        )
    if isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):  # one that stops, or has no room
        return NotAnswered("ended the connection in its handshake", Status.CONNECT_FAILED, passes=True)
    if isinstance(error, ssl.SSLError) and _CERTIFICATE_REFUSED.search(error.reason or ""):
        return NotAnswered(
            f"does not take the certificate of this process ({error.reason}); it must be of this pool, and not have ended",
            Status.IDENTITY_MISMATCH,
            passes=False,
        )
    if isinstance(error, ssl.SSLError):
        return NotAnswered(
            f"does not speak TLS there ({error.reason or error}); {port_setting} must name the port of admin HTTPS"
            " (--secure-admin-port, 9443 in pods)",
            Status.CONNECT_FAILED,
            passes=False,
        )
    if isinstance(error, TimeoutError) and "handshake" in str(error):  # plain HTTP waits for the end of a line
        return NotAnswered(
            f"does not answer a handshake of TLS; if it is well, {port_setting} must name the port of admin HTTPS"
            " (--secure-admin-port, 9443 in pods)",
            Status.CONNECT_FAILED,
            passes=True,
        )
    return NotAnswered(str(error) or type(error).__name__, Status.CONNECT_FAILED, passes=True)
