# SPDX-License-Identifier: Apache-2.0
"""How this process asks masters by admin HTTP: where they are, and what it shows them to prove who it is."""

from __future__ import annotations

import http.client
import os
import socket
import ssl
import time
from dataclasses import dataclass
from pathlib import Path

from kvpool import foreign_names
from kvpool.enrolment import certificate_directory_at_once
from kvpool.identity_directory import VARIABLE, read_identity
from kvpool.master_connection import NotAnswered, client_context, pool_of_master, unreachable
from kvpool.own_name import name_in
from kvpool.status import KvpoolError, Status, error_of

_CONNECT_SECONDS = 2.0
_HANDSHAKE_SECONDS = 5.0
_READINGS = 3
_SECONDS_BETWEEN_READINGS = 0.2
_CERTIFICATE_BYTES_MAX = 256 << 10


@dataclass(frozen=True)
class Certificate:
    """What connections are made with, the pool that this process and all masters must be of, its tenant, and what others'
    names are."""

    context: ssl.SSLContext
    pool: str
    tenant: str
    foreign: foreign_names.ForeignNames


class AdminAccess:
    """HTTP where there is no certificate; HTTPS, shown both ways, with that of `tls_dir`, or else with one that a master gives
    for the token in KVPOOL_IDENTITY_DIR.

    Args:
        admin: HOST:PORT of all masters, comma-separated. Empty: what KVPOOL_IDENTITY_DIR has as admins.
        tls_dir: with tls.crt, tls.key and ca.crt.

    Raises ValueError when an address or the directory cannot be meant.
    """

    def __init__(self, admin: str, tls_dir: str | None) -> None:
        self._tls_dir = tls_dir
        self._masters = [_host_port(address) for address in admin.split(",") if address.strip()]
        if not self._masters and not os.environ.get(VARIABLE):
            raise ValueError(f"name at least one master's admin endpoint as HOST:PORT, or set {VARIABLE}")
        if tls_dir is not None and not os.path.isabs(tls_dir):
            raise ValueError(f"tls_dir is {tls_dir!r}, but must be the absolute path of a directory")

    def masters(self) -> list[tuple[str, int]]:
        """Host and port of each. Raises KvpoolError when KVPOOL_IDENTITY_DIR does not say."""
        return self._masters or list(read_identity(os.environ.get(VARIABLE, "")).admins)

    def certificate(self) -> Certificate | None:
        """That of this moment; None where none is to be shown.

        Raises NotAnswered when no master gives one, and KvpoolError when files cannot be used.
        """
        directory = certificate_directory_at_once(self._tls_dir)
        return None if directory is None else _read(directory)

    def connection(self, host: str, port: int, certificate: Certificate | None) -> http.client.HTTPConnection:
        """A new one, not yet connected."""
        if certificate is None:
            return http.client.HTTPConnection(host, port, timeout=_CONNECT_SECONDS)
        return _MasterConnection(host, port, certificate)


class _MasterConnection(http.client.HTTPSConnection):
    """Goes only to a master of the pool of this process."""

    def __init__(self, host: str, port: int, certificate: Certificate) -> None:
        super().__init__(host, port, timeout=_CONNECT_SECONDS, context=certificate.context)
        self._certificate = certificate

    def connect(self) -> None:
        plain = socket.create_connection((self.host, self.port), _CONNECT_SECONDS)
        try:
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            plain.settimeout(_HANDSHAKE_SECONDS)
            self.sock = self._certificate.context.wrap_socket(plain)
        except BaseException:
            plain.close()
            raise
        pool = pool_of_master(self.sock.getpeercert(), foreign=self._certificate.foreign)
        if pool != self._certificate.pool:
            raise NotAnswered(
                f"it is a master of pool {pool}, and this process is of pool {self._certificate.pool}; are the addresses right?",
                Status.IDENTITY_MISMATCH,
                passes=False,
            )


def why_not(error: Exception, certificate: Certificate | None) -> NotAnswered:
    """What an OSError or HTTPException of a connection means."""
    if isinstance(error, NotAnswered):
        return error
    if certificate is None and isinstance(
        error, http.client.HTTPException
    ):  # one that speaks TLS says nothing, or a few bytes
        return NotAnswered(
            f"does not speak HTTP there; for a port of admin HTTPS set {VARIABLE} or tls_dir",
            Status.PROTOCOL,
            passes=True,
        )
    return unreachable(error, "admin")


def _host_port(address: str) -> tuple[str, int]:
    host, _, port = address.strip().rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"an admin endpoint is HOST:PORT, not {address!r}")
    return host.strip("[]"), int(port)


def _read(directory: str) -> Certificate:
    """Again after a moment where files do not fit together: another program may be replacing them."""
    for _ in range(_READINGS - 1):
        try:
            return _read_once(directory)
        except KvpoolError:
            time.sleep(_SECONDS_BETWEEN_READINGS)
    return _read_once(directory)


def _read_once(directory: str) -> Certificate:
    context = client_context()
    path = Path(directory)
    try:
        context.load_cert_chain(path / "tls.crt", path / "tls.key", password=b"")
        context.load_verify_locations(path / "ca.crt")
        with (path / "tls.crt").open("rb") as file:
            foreign = foreign_names.beside(path)
            name = name_in(file.read(_CERTIFICATE_BYTES_MAX), foreign)
    except ssl.SSLError as error:  # an OSError too
        raise _unusable(
            Status.INVALID_ARGUMENT,
            directory,
            f"what is in it does not fit together, or is no PEM ({error.reason or error})",
        ) from None
    except OSError as error:
        raise _unusable(Status.IO, directory, str(error.strerror)) from None
    except ValueError as error:
        raise _unusable(Status.INVALID_ARGUMENT, directory, str(error)) from None
    return Certificate(context, name.pool, name.tenant, foreign)


def _unusable(status: Status, directory: str, why: str) -> KvpoolError:
    return error_of(
        status,
        f"the certificate in {directory} cannot be used: {why}; it must have tls.crt, tls.key and ca.crt, such as `kvpool cert"
        " issue` makes",
    )
