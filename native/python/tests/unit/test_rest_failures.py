# SPDX-License-Identifier: Apache-2.0
"""What the REST service says of a call that failed."""

import pytest

from mooncake.answers.error_code import ErrorCode
from mooncake.rest.failures import failure


@pytest.mark.parametrize("code", [int(code) for code in ErrorCode if code < 0])
def test_every_code_has_cause_and_remedy(code: int) -> None:
    body = failure("PUT operation failed", code)

    assert body["error"] == f"PUT operation failed: {code}"
    assert body["code"] == code
    assert str(body["reason"]).startswith(f"{ErrorCode(code).name}: ")
    assert body["remedy"]


def test_a_full_pool_says_what_to_do() -> None:
    assert failure("PUT operation failed", -200) == {
        "error": "PUT operation failed: -200",
        "code": -200,
        "reason": "NO_AVAILABLE_HANDLE: there is no room",
        "remedy": "enlarge the pool, remove objects, or give this process more memory",
    }


def test_a_code_of_another_version_is_an_internal_error() -> None:
    assert failure("x", -99999)["reason"] == "INTERNAL_ERROR: the request could not be carried out"
