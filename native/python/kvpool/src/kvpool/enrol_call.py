# SPDX-License-Identifier: Apache-2.0
"""The request by which a master signs a certificate: POST /api/v1/enrol."""

from __future__ import annotations

import http.client
import json
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime

from kvpool import _kvpool
from kvpool.identity_directory import Identity
from kvpool.master_connection import NotAnswered, client_context, pool_of_master, unreachable
from kvpool.status import Status, error_of

_CONNECT_SECONDS = 3.0
_ANSWER_SECONDS = 10.0
_ANSWER_BYTES_MAX = 256 << 10


@dataclass(frozen=True)
class Granted:
    """PEM of all three files, and when the certificate ends, in seconds of 1970."""

    certificate: str
    key: str
    roots: str
    not_after: float


def ask(master: tuple[str, int], identity: Identity) -> Granted:
    """Asks one master. The token is sent only once its certificate has shown that it is a master of the pool.

    Raises NotAnswered, and KvpoolError when the token or the roots cannot be used with any master.
    """
    try:
        key, query = _kvpool.enrol_request(identity.token)
    except _kvpool.Failure as failure:
        raise error_of(*failure.args) from None
    connection = http.client.HTTPSConnection(*master, timeout=_CONNECT_SECONDS, context=_context(identity.roots))
    try:
        try:
            connection.connect()
            _require_pool(pool_of_master(connection.sock.getpeercert(), "; the token was not sent"), identity)
            connection.sock.settimeout(_ANSWER_SECONDS)
            connection.request("POST", f"/api/v1/enrol?{query}", headers={"X-Kvpool-Token": identity.token})
            answer = connection.getresponse()
            body = answer.read(_ANSWER_BYTES_MAX).decode("utf-8", "replace")
        except (OSError, http.client.HTTPException) as error:
            raise unreachable(error, "admins") from None
        except ValueError:  # its text would have the token in it
            raise NotAnswered(
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
    context = client_context()
    try:
        context.load_verify_locations(cadata=roots)
    except ssl.SSLError as error:
        raise error_of(
            Status.INVALID_ARGUMENT,
            f"ca.crt has a certificate that cannot be read ({error.reason or error}); mount that of the pool's"
            " ConfigMap POOL-trust",
        ) from None
    return context


def _require_pool(pool: str, identity: Identity) -> None:
    if pool not in identity.pools:
        raise NotAnswered(
            f"it is a master of pool {pool}, and the token is for pool {', '.join(sorted(identity.pools))[:300]}; the"
            f" volume's serviceAccountToken needs audience: kvpool.dev/{pool}",
            Status.IDENTITY_MISMATCH,
            passes=False,
        )


def _refused(status: int, text: str) -> NotAnswered:
    passes = status in (429, 502, 503, 504)
    remedy = ""
    if status == 404:
        remedy = "; this master signs nothing: it needs --ca-dir and --enrolment"
    return NotAnswered(
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
        raise NotAnswered(
            "its answer has no certificate; is it a kvpool of this version?", Status.PROTOCOL, passes=False
        ) from None
    if end.tzinfo is None:
        end = end.replace(tzinfo=UTC)
    return Granted(certificate=texts[0], key=key, roots=texts[1], not_after=end.timestamp())
