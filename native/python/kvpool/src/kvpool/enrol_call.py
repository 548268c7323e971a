# SPDX-License-Identifier: Apache-2.0
"""The request by which a master signs a certificate: POST /api/v1/enrol."""

from __future__ import annotations

import http.client
import json
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from kvpool import _kvpool
from kvpool.identity_directory import Identity
from kvpool.status import Status, error_of

_CONNECT_SECONDS = 3.0
_ANSWER_SECONDS = 10.0
_ANSWER_BYTES_MAX = 256 << 10
_MASTER = re.compile(r"spiffe://([0-9a-f-]{36})/master/[a-z0-9.-]{1,253}", re.ASCII)


class NotEnrolled(Exception):
    """No certificate from this master. Its text says what it answered, or why it did not.

    Args:
        status: what a KvpoolError of it has.
        passes: the same question may be answered otherwise a little later.
    """

    def __init__(self, text: str, status: Status, *, passes: bool) -> None:
        super().__init__(text)
        self.status = status
        self.passes = passes


@dataclass(frozen=True)
class Granted:
    """PEM of all three files, and when the certificate ends, in seconds of 1970."""

    certificate: str
    key: str
    roots: str
    not_after: float


def ask(master: tuple[str, int], identity: Identity) -> Granted:
    """Asks one master. The token is sent only once its certificate has shown that it is a master of the pool.

    Raises NotEnrolled, and KvpoolError when the token or the roots cannot be used with any master.
    """
    try:
        key, query = _kvpool.enrol_request(identity.token)
    except _kvpool.Failure as failure:
        raise error_of(*failure.args) from None
    connection = http.client.HTTPSConnection(*master, timeout=_CONNECT_SECONDS, context=_context(identity.roots))
    try:
        try:
            connection.connect()
            _require_master(connection.sock.getpeercert() or {}, identity)
            connection.sock.settimeout(_ANSWER_SECONDS)
            connection.request("POST", f"/api/v1/enrol?{query}", headers={"X-Kvpool-Token": identity.token})
            answer = connection.getresponse()
            body = answer.read(_ANSWER_BYTES_MAX).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(error) from None
        except ValueError:  # its text would have the token in it
            raise NotEnrolled(
                "cannot be asked: its name is not that of a host, or the token has characters that no token has",
                Status.INVALID_ARGUMENT,
                passes=False,
            ) from None
    finally:
        connection.close()
    if answer.status != http.client.OK:
        raise _refused(answer.status, body.strip()[:1000])
    return _granted(body, key)


def _context(roots: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False  # a master is who its certificate says, wherever it is
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    try:
        context.load_verify_locations(cadata=roots)
    except ssl.SSLError as error:
        raise error_of(
            Status.INVALID_ARGUMENT,
            f"ca.crt has a certificate that cannot be read ({error.reason or error}); mount that of the pool's"
            " ConfigMap POOL-trust",
        ) from None
    return context


def _require_master(certificate: Mapping[str, object], identity: Identity) -> None:
    names = certificate.get("subjectAltName", ())
    uris = [value for kind, value in names if kind == "URI"] if isinstance(names, tuple) else []
    match = _MASTER.fullmatch(uris[0]) if len(uris) == 1 else None
    if match is None:
        raise NotEnrolled(
            f"its certificate is that of {', '.join(uris)[:300] or 'no member of a pool'}, not of a master; the token was not"
            " sent: is the address right?",
            Status.IDENTITY_MISMATCH,
            passes=False,
        )
    if match[1] not in identity.pools:
        raise NotEnrolled(
            f"it is a master of pool {match[1]}, and the token is for pool {', '.join(sorted(identity.pools))[:300]}; the"
            f" volume's serviceAccountToken needs audience: kvpool.dev/{match[1]}",
            Status.IDENTITY_MISMATCH,
            passes=False,
        )


def _unreachable(error: Exception) -> NotEnrolled:
    if isinstance(error, ssl.SSLCertVerificationError):
        return NotEnrolled(
            f"its certificate does not lead to ca.crt ({error.verify_message}); take that of the pool's ConfigMap POOL-trust, and"
            " compare the clocks",
            Status.IDENTITY_MISMATCH,
            passes=False,
        )
    if isinstance(error, (ssl.SSLEOFError, ssl.SSLZeroReturnError)):  # one that stops, or has no room
        return NotEnrolled("ended the connection in its handshake", Status.CONNECT_FAILED, passes=True)
    if isinstance(error, ssl.SSLError):
        return NotEnrolled(
            f"does not speak TLS there ({error.reason or error}); admins must name the port of admin HTTPS"
            " (--secure-admin-port, 9443 in pods)",
            Status.CONNECT_FAILED,
            passes=False,
        )
    return NotEnrolled(str(error) or type(error).__name__, Status.CONNECT_FAILED, passes=True)


def _refused(status: int, text: str) -> NotEnrolled:
    passes = status in (429, 502, 503, 504)
    remedy = ""
    if status == 404:
        remedy = "; this master signs nothing: it needs --ca-dir and --enrolment"
    return NotEnrolled(
        f"answered {status}: {text}{remedy}",
        Status.CONNECT_FAILED if passes else Status.NOT_PERMITTED,
        passes=passes,
    )


def _granted(body: str, key: str) -> Granted:
    try:
        document = json.loads(body)
        end = datetime.fromisoformat(str(document["notAfter"]))
        texts = [str(document[name]) for name in ("certificate", "roots")]
        if not all("-----BEGIN CERTIFICATE-----" in text for text in texts):
            raise ValueError("no PEM")
    except (ValueError, KeyError, TypeError, RecursionError):
        raise NotEnrolled(
            "its answer has no certificate; is it a kvpool of this version?", Status.PROTOCOL, passes=False
        ) from None
    if end.tzinfo is None:
        end = end.replace(tzinfo=UTC)
    return Granted(certificate=texts[0], key=key, roots=texts[1], not_after=end.timestamp())
