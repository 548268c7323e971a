# SPDX-License-Identifier: Apache-2.0
"""Events of a stream (SSE): pure."""

from __future__ import annotations

_HELD_BYTES_MAX = 1 << 20
_DONE = b"data: [DONE]"
_END_BYTES = 64


class Events:
    """Holds back the beginning of an event until its end comes, so that an answer that breaks off does not end within one."""

    def __init__(self) -> None:
        self._held = b""
        self._end = b""

    def take(self, part: bytes) -> bytes:
        """The whole events that are there with this part; one that is longer than any of an engine is passed on as it comes."""
        self._held += part
        # A blank line ends an event; engines write lines with \n, proxies between may write \r\n.
        ends = [place + len(blank) for blank in (b"\n\n", b"\r\n\r\n") if (place := self._held.rfind(blank)) >= 0]
        end = max(ends, default=len(self._held) if len(self._held) > _HELD_BYTES_MAX else 0)
        whole, self._held = self._held[:end], self._held[end:]
        self._end = (self._end + whole)[-_END_BYTES:]
        return whole

    def last(self) -> bytes | None:
        """What is still held when the stream ends; None when it must not end here."""
        return self._held if _DONE in self._end + self._held else None
