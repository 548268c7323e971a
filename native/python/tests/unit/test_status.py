# SPDX-License-Identifier: Apache-2.0
"""Numbers must be those of the C header, and each must have an exception and a Mooncake code."""

import re
from pathlib import Path

import pytest

import kvpool
from kvpool import Status
from kvpool.status import error_of, status_of
from mooncake.answers.error_code import CODE_OF, ErrorCode, code_of

HEADER = Path(__file__).parents[3] / "include" / "kvpool" / "kvpool.h"


def test_numbers_are_those_of_the_header() -> None:
    body = HEADER.read_text().split("enum kv_status {")[1].split("};")[0]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    in_header = {name: int(number) for name, number in re.findall(r"KV_(\w+) = (-?\d+)", body)}
    assert in_header == {status.name: int(status) for status in Status}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (Status.HAS_LEASE, kvpool.ObjectError),
        (Status.TIMEOUT, kvpool.CallError),
        (Status.NO_SPACE, kvpool.NoSpaceError),
        (Status.VERSION_MISMATCH, kvpool.PeerError),
        (Status.RECOVERING, kvpool.LeadershipError),
        (Status.OUT_OF_MEMORY, kvpool.SegmentError),
        (Status.INTERNAL, kvpool.InternalError),
    ],
)
def test_each_group_has_its_exception(status: Status, kind: type[kvpool.KvpoolError]) -> None:
    error = error_of(status, "node demo-0 said no")
    assert type(error) is kind
    assert error.status is status
    assert str(error) == f"node demo-0 said no ({status.name})"


def test_a_status_of_a_newer_library_is_kept() -> None:
    unknown = status_of(-777)
    assert (unknown, unknown.name) == (-777, "UNKNOWN_777")
    assert isinstance(error_of(-777), kvpool.InternalError)
    assert code_of(-777) == ErrorCode.INTERNAL_ERROR


def test_every_status_has_a_mooncake_code() -> None:
    assert set(CODE_OF) == set(Status)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (Status.OK, 0),
        (Status.NO_SPACE, -200),
        (Status.TOO_LARGE, -200),
        (Status.QUOTA_EXCEEDED, -1700),
        (Status.VERSION_MISMATCH, -300),
        (Status.INVALID_KEY, -400),
        (Status.INVALID_ARGUMENT, -600),
        (Status.NOT_REGISTERED, -600),
        (Status.UNAVAILABLE, -703),
        (Status.NOT_FOUND, -704),
        (Status.HAS_LEASE, -706),
        (Status.LEASE_EXPIRED, -707),
        (Status.TRANSFER_FAILED, -800),
        (Status.CHECKSUM, -801),
        (Status.CONNECT_FAILED, -900),
        (Status.TIMEOUT, -901),
        (Status.NOT_LEADER, -1010),
    ],
)
def test_codes_that_engines_know(status: Status, code: int) -> None:
    assert code_of(status) == code
