# SPDX-License-Identifier: Apache-2.0
"""What the service answers when a call of the store failed: the code with its cause and remedy; pure."""

from mooncake.answers.error_code import ErrorCode

_UNREACHED = (
    "see whether the pool has a leader and can be reached from here (kubectl describe kvp NAME), then try again"
)
_LOG = "see the log of this service, which says what failed"

# Cause and remedy.
_FAILURES = {
    ErrorCode.INTERNAL_ERROR: (
        "the request could not be carried out",
        f"{_LOG}; a file must be on tmpfs or hugetlbfs and hold offset + size, of whole pages and 16 MiB at least",
    ),
    ErrorCode.SEGMENT_NOT_FOUND: (
        "no such memory of this process is in the pool",
        "give segment_ids that a mount answered with; SSDs belong to storage nodes, so there is no local disk to take back",
    ),
    ErrorCode.NO_AVAILABLE_HANDLE: (
        "there is no room",
        "enlarge the pool, remove objects, or give this process more memory",
    ),
    ErrorCode.INVALID_VERSION: (
        "the versions of this service and its pool do not fit",
        "install the wheels of the pool's version here",
    ),
    ErrorCode.INVALID_KEY: ("the key is none", "give a key of 1 to 4096 bytes"),
    ErrorCode.INVALID_PARAMS: (
        "a setting or argument does not fit",
        f"{_LOG}; put and get need a local_buffer_size (MOONCAKE_LOCAL_BUFFER_SIZE) that is not 0",
    ),
    ErrorCode.ILLEGAL_CLIENT: (
        "this process may not do that",
        "give it the certificate of a tenant that may, and the masters of its pool",
    ),
    ErrorCode.REPLICA_IS_NOT_READY: ("every copy is on a storage node that is away", "try again when it is back"),
    ErrorCode.OBJECT_NOT_FOUND: ("the key has no value", "put one first"),
    ErrorCode.OBJECT_HAS_LEASE: ("it was read, and is kept for its readers", "try again when the object lease is over"),
    ErrorCode.TRANSFER_FAIL: ("the bytes did not arrive", _UNREACHED),
    ErrorCode.CHECKSUM_MISMATCH: ("the stored bytes are damaged", "remove the key and put it again"),
    ErrorCode.RPC_FAIL: ("the pool cannot be reached", _UNREACHED),
    ErrorCode.RPC_TIMEOUT: ("the pool did not answer in time", _UNREACHED),
    ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS: ("the pool is changing its leader", _UNREACHED),
    ErrorCode.TENANT_QUOTA_EXCEEDED: ("the tenant's quota is used up", "raise it, or remove objects of the tenant"),
}


def failure(what: str, code: int) -> dict[str, object]:
    """The body of an answer, where `what` is as in the reference."""
    known = ErrorCode(code) if code in ErrorCode._value2member_map_ else ErrorCode.INTERNAL_ERROR
    cause, remedy = _FAILURES.get(known, ("the request could not be carried out", _LOG))
    return {"error": f"{what}: {code}", "code": code, "reason": f"{known.name}: {cause}", "remedy": remedy}
