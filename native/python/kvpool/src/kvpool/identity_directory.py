# SPDX-License-Identifier: Apache-2.0
"""What a pod is given to prove who it is: the files of KVPOOL_IDENTITY_DIR."""

from __future__ import annotations

import base64
import binascii
import json
import re
from dataclasses import dataclass
from pathlib import Path

from kvpool.status import KvpoolError, Status, error_of

VARIABLE = "KVPOOL_IDENTITY_DIR"

_AUDIENCE = "kvpool.dev/"
_BYTES_MAX = 256 << 10
_ADDRESS = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s,:\[\]]+):([1-9]\d{0,4})", re.ASCII)


@dataclass(frozen=True)
class Identity:
    """One reading of the directory.

    Args:
        token: of the ServiceAccount, a JWT that the kubelet replaces now and then.
        pools: ids of the pools that the token is for.
        roots: PEM of what the certificates of masters must lead to.
        admins: host and port of each master's admin HTTPS.
    """

    token: str
    pools: frozenset[str]
    roots: str
    admins: tuple[tuple[str, int], ...]


def read_identity(directory: str) -> Identity:
    """Raises KvpoolError, IO or INVALID_ARGUMENT, with the file, the cause and what to do."""
    token = _read(directory, "token").strip()
    return Identity(
        token=token,
        pools=_pools(token, f"{directory}/token"),
        roots=_roots(_read(directory, "ca.crt"), f"{directory}/ca.crt"),
        admins=_admins(_read(directory, "admins"), f"{directory}/admins"),
    )


def _read(directory: str, name: str) -> str:
    path = Path(directory, name)
    try:
        with path.open("rb") as file:
            content = file.read(_BYTES_MAX + 1)
    except OSError as error:
        raise error_of(
            Status.IO,
            f"cannot read {path}: {error.strerror}; {VARIABLE} must name a directory with token, ca.crt and admins, such as the"
            " projected volume that `kubectl kvpool client-config` prints",
        ) from None
    if len(content) > _BYTES_MAX or not content.strip() or not content.isascii():
        raise _wrong(f"{path} is empty, has more than 256 KiB or is no text", "mount the volume of this pool")
    return content.decode("ascii")


def _wrong(what: str, remedy: str) -> KvpoolError:
    return error_of(Status.INVALID_ARGUMENT, f"{what}; {remedy}")


def _pools(token: str, path: str) -> frozenset[str]:
    """The token is not verified here: masters do that. It says whom it may be shown to."""
    parts = token.split(".")
    try:
        if len(parts) != 3:
            raise ValueError("not of three parts")
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
        names = [str(audience) for audience in audiences]
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error):
        raise _wrong(
            f"{path} is no token of a ServiceAccount", "mount a projected volume with a serviceAccountToken"
        ) from None
    pools = frozenset(name.removeprefix(_AUDIENCE) for name in names if name.startswith(_AUDIENCE))
    if not pools:
        raise _wrong(
            f"the token in {path} is for {', '.join(names)[:300] or 'no service'}, and not for a pool",
            f"the volume's serviceAccountToken needs audience: {_AUDIENCE}POOL-ID",
        )
    return pools


def _roots(text: str, path: str) -> str:
    if "-----BEGIN CERTIFICATE-----" not in text:
        raise _wrong(f"{path} has no certificate in PEM", "it must be the ca.crt of the pool's ConfigMap POOL-trust")
    return text


def _admins(text: str, path: str) -> tuple[tuple[str, int], ...]:
    names = [name for name in re.split(r"[\s,]+", text) if name] or [""]
    matches = [_ADDRESS.fullmatch(name) for name in names]
    for name, match in zip(names, matches, strict=True):
        if match is None or int(match[2]) > 65535:
            raise _wrong(f"{path} has {name[:300]!r}", "write HOST:PORT[,HOST:PORT...], the admin HTTPS of all masters")
    return tuple((match[1].strip("[]"), int(match[2])) for match in matches if match is not None)
