# SPDX-License-Identifier: Apache-2.0
"""What an API server does with tokens of ServiceAccounts: signs them, and says by which key."""

import base64
import json
import subprocess
import time
from pathlib import Path


def _url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class TokenIssuer:
    """With a key of its own, below `folder`, by the command openssl."""

    def __init__(self, folder: Path) -> None:
        self._key = folder / "issuer.key"
        self._openssl("genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", self._key)

    @staticmethod
    def _openssl(*arguments: object, given: bytes = b"") -> bytes:
        return subprocess.run(["openssl", *map(str, arguments)], input=given, stdout=subprocess.PIPE, check=True).stdout

    def key_set(self) -> str:
        """For --token-keys."""
        text = self._openssl("rsa", "-in", self._key, "-noout", "-modulus").decode().strip()
        modulus = bytes.fromhex(text.partition("=")[2])
        key = {"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "k", "n": _url(modulus), "e": "AQAB"}
        return json.dumps({"keys": [key]})

    def token(self, audience: str, namespace: str, account: str, seconds: int = 600) -> str:
        now = int(time.time())
        claims = {
            "aud": [audience],
            "iss": "https://kubernetes.default.svc.cluster.local",
            "sub": f"system:serviceaccount:{namespace}:{account}",
            "iat": now,
            "nbf": now,
            "exp": now + seconds,
            "kubernetes.io": {
                "namespace": namespace,
                "serviceaccount": {"name": account, "uid": "u-1"},
                "pod": {"name": "engine-0", "uid": "u-2"},
            },
        }
        header = _url(json.dumps({"alg": "RS256", "kid": "k"}).encode())
        text = f"{header}.{_url(json.dumps(claims).encode())}"
        return f"{text}.{_url(self._openssl('dgst', '-sha256', '-sign', self._key, given=text.encode()))}"
