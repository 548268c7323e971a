# SPDX-License-Identifier: Apache-2.0
"""The reference's metadata server as its clients see it: values by key, over HTTP."""

from __future__ import annotations

import urllib.error
import urllib.parse
import urllib.request

_SECONDS = 3.0
_BYTES_MAX = 1 << 20
_NOT_FOUND, _CONFLICT = 404, 400


class MetadataServerError(Exception):
    """The server cannot be reached, or answered what it should not; the text says which."""


class MetadataServer:
    """Of the URL that TransferEngine.initialize() is given. For any number of threads; each call takes at most a few seconds."""

    def __init__(self, url: str) -> None:
        self.url = url
        # A proxy of the environment is for servers outside of the cluster, and this one is inside.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def get(self, key: str) -> bytes | None:
        """None when there is no such key. Raises MetadataServerError."""
        return self._call("GET", key, None, _NOT_FOUND)

    def put(self, key: str, value: bytes) -> bool:
        """False when the key has another value, which this server does not replace. Raises MetadataServerError."""
        return self._call("PUT", key, value, _CONFLICT) is not None

    def delete(self, key: str) -> bool:
        """False when there is no such key. Raises MetadataServerError."""
        return self._call("DELETE", key, None, _NOT_FOUND) is not None

    def _call(self, method: str, key: str, value: bytes | None, no: int) -> bytes | None:
        """The body of the answer; None for an answer of status `no`."""
        url = f"{self.url}?{urllib.parse.urlencode({'key': key})}"
        request = urllib.request.Request(url, data=value, method=method, headers={"Content-Type": "application/json"})
        try:
            with self._opener.open(request, timeout=_SECONDS) as answer:
                body = answer.read(_BYTES_MAX + 1)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == no:
                    return None
            raise MetadataServerError(f"metadata server {self.url} answered {method} {key} with {error.code}") from None
        except (OSError, ValueError) as error:  # of urllib.error too
            reason = getattr(error, "reason", error)
            raise MetadataServerError(f"metadata server {self.url} cannot be reached: {reason}") from None
        if len(body) > _BYTES_MAX:
            raise MetadataServerError(
                f"metadata server {self.url} answered {method} {key} with over {_BYTES_MAX} bytes"
            )
        return body
