# SPDX-License-Identifier: Apache-2.0
"""Mooncake's return codes, and the one table from kvpool's statuses to them."""

from __future__ import annotations

from enum import IntEnum

from kvpool import Status


class ErrorCode(IntEnum):
    """What a method of MooncakeDistributedStore returns when it is negative."""

    OK = 0
    INTERNAL_ERROR = -1
    SEGMENT_NOT_FOUND = -101
    SEGMENT_ALREADY_EXISTS = -102
    NO_AVAILABLE_HANDLE = -200
    INVALID_VERSION = -300
    INVALID_KEY = -400
    INVALID_PARAMS = -600
    ILLEGAL_CLIENT = -601
    INVALID_REPLICA = -702
    REPLICA_IS_NOT_READY = -703
    OBJECT_NOT_FOUND = -704
    OBJECT_ALREADY_EXISTS = -705
    OBJECT_HAS_LEASE = -706
    LEASE_EXPIRED = -707
    TRANSFER_FAIL = -800
    CHECKSUM_MISMATCH = -801
    RPC_FAIL = -900
    RPC_TIMEOUT = -901
    UNAVAILABLE_IN_CURRENT_STATUS = -1010
    TASK_NOT_FOUND = -1400
    TASK_PENDING_LIMIT_EXCEEDED = -1401
    TENANT_QUOTA_EXCEEDED = -1700
    TENANT_NOT_REGISTERED = -1701


CODE_OF: dict[int, ErrorCode] = {
    Status.OK: ErrorCode.OK,
    Status.NOT_FOUND: ErrorCode.OBJECT_NOT_FOUND,
    Status.EXISTS: ErrorCode.OBJECT_ALREADY_EXISTS,
    # Known to the pool, but not to be had now: being written by someone else, or on nodes that are away.
    Status.BUSY: ErrorCode.REPLICA_IS_NOT_READY,
    Status.UNAVAILABLE: ErrorCode.REPLICA_IS_NOT_READY,
    Status.HAS_LEASE: ErrorCode.OBJECT_HAS_LEASE,
    Status.LEASE_EXPIRED: ErrorCode.LEASE_EXPIRED,
    Status.INVALID_KEY: ErrorCode.INVALID_KEY,
    Status.CHECKSUM: ErrorCode.CHECKSUM_MISMATCH,
    Status.BUFFER_TOO_SMALL: ErrorCode.INVALID_PARAMS,
    Status.INVALID_ARGUMENT: ErrorCode.INVALID_PARAMS,
    Status.NOT_REGISTERED: ErrorCode.INVALID_PARAMS,
    Status.CLOSED: ErrorCode.INVALID_PARAMS,
    Status.TIMEOUT: ErrorCode.RPC_TIMEOUT,
    # Engines take "no handle" as back-pressure and put less; a full queue asks for the same.
    Status.NO_SPACE: ErrorCode.NO_AVAILABLE_HANDLE,
    Status.QUOTA_EXCEEDED: ErrorCode.TENANT_QUOTA_EXCEEDED,
    Status.TOO_LARGE: ErrorCode.NO_AVAILABLE_HANDLE,
    Status.QUEUE_FULL: ErrorCode.NO_AVAILABLE_HANDLE,
    Status.OUT_OF_MEMORY: ErrorCode.NO_AVAILABLE_HANDLE,
    Status.TOO_OLD: ErrorCode.INVALID_VERSION,
    Status.VERSION_MISMATCH: ErrorCode.INVALID_VERSION,
    Status.SEGMENT_LAYOUT: ErrorCode.INVALID_VERSION,
    Status.CONNECT_FAILED: ErrorCode.RPC_FAIL,
    Status.PROTOCOL: ErrorCode.RPC_FAIL,
    Status.IDENTITY_MISMATCH: ErrorCode.ILLEGAL_CLIENT,
    Status.NOT_PERMITTED: ErrorCode.ILLEGAL_CLIENT,
    Status.TRANSFER_FAILED: ErrorCode.TRANSFER_FAIL,
    Status.NOT_LEADER: ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS,
    Status.RECOVERING: ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS,
    Status.STALE_EPOCH: ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS,
    Status.NOT_FENCED: ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS,
    Status.SEGMENT_IN_USE: ErrorCode.SEGMENT_ALREADY_EXISTS,
    Status.SEGMENT_FOREIGN: ErrorCode.INVALID_PARAMS,
    Status.IO: ErrorCode.INTERNAL_ERROR,
    Status.INTERNAL: ErrorCode.INTERNAL_ERROR,
}


def code_of(status: int) -> int:
    """The plain int that engines compare; a status of a newer library is an internal error."""
    return int(CODE_OF.get(status, ErrorCode.INTERNAL_ERROR))


class Refusal(int):
    """The code of a key that was refused here, so that the library has no sentence for it."""

    why: str

    def __new__(cls, code: ErrorCode, why: str) -> Refusal:
        self = super().__new__(cls, code)
        self.why = why
        return self
