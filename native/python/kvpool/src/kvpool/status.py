# SPDX-License-Identifier: Apache-2.0
"""The statuses of libkvpool, and the exceptions made of them."""

from enum import IntEnum

from kvpool import _kvpool


class Status(IntEnum):
    """What became of one key or one call. 0 is success; the hundreds digit says what is broken.

    Values are those of `enum kv_status` in kvpool.h. A status this version does not know, from a newer library, is
    still a Status with that number.
    """

    OK = 0
    # this object
    NOT_FOUND = -101
    EXISTS = -102
    BUSY = -103
    HAS_LEASE = -104
    LEASE_EXPIRED = -105
    UNAVAILABLE = -106
    INVALID_KEY = -107
    TOO_LARGE = -108
    CHECKSUM = -109
    BUFFER_TOO_SMALL = -110
    # this call
    INVALID_ARGUMENT = -201
    NOT_REGISTERED = -202
    TIMEOUT = -203
    CLOSED = -204
    QUEUE_FULL = -205
    TOO_OLD = -206
    # room in the pool
    NO_SPACE = -301
    QUOTA_EXCEEDED = -302
    # this connection or peer
    CONNECT_FAILED = -401
    TRANSFER_FAILED = -402
    PROTOCOL = -403
    IDENTITY_MISMATCH = -404
    VERSION_MISMATCH = -405
    NOT_PERMITTED = -406
    # leadership
    NOT_LEADER = -501
    RECOVERING = -502
    STALE_EPOCH = -503
    NOT_FENCED = -504
    # a segment
    SEGMENT_IN_USE = -601
    SEGMENT_FOREIGN = -602
    SEGMENT_LAYOUT = -603
    OUT_OF_MEMORY = -604
    IO = -605
    # a defect of kvpool
    INTERNAL = -901

    @classmethod
    def _missing_(cls, value: object) -> "Status | None":
        if not isinstance(value, int):
            return None
        unknown = int.__new__(cls, value)
        unknown._name_ = f"UNKNOWN_{abs(value)}"
        unknown._value_ = value
        return unknown

    @property
    def text(self) -> str:
        """A sentence that says what the status means."""
        return _kvpool.status_text(self)


class KvpoolError(Exception):
    """A call failed. `status` says why, the message names the peer or the argument."""

    def __init__(self, status: Status, message: str) -> None:
        super().__init__(f"{message} ({status.name})")
        self.status = status
        self.message = message


class ObjectError(KvpoolError):
    """This object: others are not concerned."""


class CallError(KvpoolError):
    """This call: wrong argument, timeout, closed client."""


class NoSpaceError(KvpoolError):
    """The pool is full, or the tenant at its ceiling, and nothing could be evicted."""


class PeerError(KvpoolError):
    """A master or storage node could not be reached, or it is not what was expected there."""


class LeadershipError(KvpoolError):
    """No leader serves at this moment."""


class SegmentError(KvpoolError):
    """The memory of a storage node could not be had."""


class InternalError(KvpoolError):
    """A defect of kvpool."""


_GROUPS: dict[int, type[KvpoolError]] = {
    1: ObjectError,
    2: CallError,
    3: NoSpaceError,
    4: PeerError,
    5: LeadershipError,
    6: SegmentError,
    9: InternalError,
}

_KNOWN: dict[int, Status] = {int(status): status for status in Status}


def status_of(number: int) -> Status:
    """The Status for a number; faster than Status(number)."""
    known = _KNOWN.get(number)
    return Status(number) if known is None else known


def error_of(number: int, message: str = "") -> KvpoolError:
    """The exception for a status that is not OK."""
    status = status_of(number)
    kind = _GROUPS.get(-number // 100, InternalError)
    return kind(status, message or status.text)
