# SPDX-License-Identifier: Apache-2.0
"""What a setup that failed tells: why, what it means for the process, and what to do about it; pure."""

from mooncake.answers.error_code import ErrorCode

_NAMES_OF_MASTERS = 'argument "master_server_addr", key "master_server_address" of a file, variable MOONCAKE_MASTER'

_REMEDIES = {
    ErrorCode.RPC_FAIL: (
        f"check that these are the pool's masters ({_NAMES_OF_MASTERS}; on Kubernetes the ConfigMap NAME-client has "
        "them) and that they can be reached from here"
    ),
    ErrorCode.RPC_TIMEOUT: (
        "the pool has no leader that serves; see why (kubectl describe kvp NAME, or the masters' logs) and try again"
    ),
    ErrorCode.UNAVAILABLE_IN_CURRENT_STATUS: "the leader is still starting; try again",
    ErrorCode.INVALID_VERSION: "install the wheels of the pool's version here, or upgrade the pool",
    ErrorCode.ILLEGAL_CLIENT: "another pool answers at these addresses; give this pool's masters",
    ErrorCode.TENANT_NOT_REGISTERED: (
        "leave tenant_id out, or give this process the certificate of that tenant (its ServiceAccount among spec.tenants, "
        "or KVPOOL_TLS_DIR)"
    ),
    ErrorCode.NO_AVAILABLE_HANDLE: "give less memory (global_segment_size, local_buffer_size), or this process more",
}


def cause_of(method: str, code: int, reason: str) -> str:
    """For the answers to later calls."""
    return f"{method} failed with {code} {ErrorCode(code).name}: {reason}"


def sentence(method: str, code: int, reason: str) -> str:
    """For the log. Engines that ignore the result of setup() go on as if all were well."""
    remedy = _REMEDIES.get(ErrorCode(code), "mend that")
    return (
        f"{cause_of(method, code, reason)}. THIS PROCESS RUNS WITHOUT THE KV CACHE POOL: every call fails with "
        f"{int(ErrorCode.INVALID_PARAMS)} until a setup succeeds. Remedy: {remedy}, then set up again or restart."
    )
