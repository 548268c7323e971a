# SPDX-License-Identifier: Apache-2.0
"""How a call to the pool becomes return codes: one for each key, whatever happens, and the reason in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from kvpool import KvpoolError, Status
from mooncake.answers.error_code import ErrorCode, Refusal, code_of
from mooncake.answers.failure_log import FailureLog
from mooncake.connection.pool import Pool

_INVALID_PARAMS = int(ErrorCode.INVALID_PARAMS)

# A miss answers a question: engines ask for what may not be there, and it is nothing to report.
_NOTHING_TO_REPORT = frozenset((int(Status.NOT_FOUND),))

# What is wrong with a store that is not set up is wrong with all of its calls, and stays so.
_QUIET_WITHOUT_POOL_SECONDS = 10.0


class Calls:
    """Runs calls and translates their outcome. `pool` None: the store is not set up."""

    def __init__(self, logger: logging.Logger) -> None:
        self.failures = FailureLog(logger)
        self.why_no_pool = "setup() was never called"
        self._without_pool = FailureLog(logger, quiet_seconds=_QUIET_WITHOUT_POOL_SECONDS, by_method=False)

    def for_each(
        self, pool: Pool | None, method: str, keys: Sequence[str], call: Callable[[Pool], Sequence[int]]
    ) -> list[int]:
        """`call` answers a length, a kvpool status or a Refusal for each key; the result a length or an ErrorCode."""
        if pool is None:
            return [self._not_set_up(method)] * len(keys)
        try:
            answers = call(pool)
        except (KvpoolError, ValueError, OverflowError) as error:
            return [self._failed(method, f"all {len(keys)} keys failed", error)] * len(keys)
        if min(answers, default=0) >= 0:
            return list(map(int, answers))  # plain numbers, as the reference returns them, not names of statuses
        self._report(pool, method, keys, answers)
        return [int(answer) if answer >= 0 or isinstance(answer, Refusal) else code_of(answer) for answer in answers]

    def once(self, pool: Pool | None, method: str, call: Callable[[Pool], int | None]) -> int:
        """`call` raises or returns a number of 0 or more (None counts as 0)."""
        if pool is None:
            return self._not_set_up(method)
        try:
            return call(pool) or 0
        except (KvpoolError, ValueError, OverflowError) as error:
            return self._failed(method, "the call failed", error)

    def _not_set_up(self, method: str) -> int:
        self._without_pool.write(method, _INVALID_PARAMS, "the store is not set up", self.why_no_pool)
        return _INVALID_PARAMS

    def _failed(self, method: str, what: str, error: Exception) -> int:
        code = code_of(error.status) if isinstance(error, KvpoolError) else _INVALID_PARAMS
        self.failures.write(method, code, what, str(error))
        return code

    def _report(self, pool: Pool, method: str, keys: Sequence[str], answers: Sequence[int]) -> None:
        failed = [i for i, answer in enumerate(answers) if answer < 0 and answer not in _NOTHING_TO_REPORT]
        if not failed:
            return
        first = answers[failed[0]]
        what = f"{len(failed)} of {len(keys)} keys failed, first {short(keys[failed[0]])}"
        if isinstance(first, Refusal):
            self.failures.write(method, int(first), what, first.why)
            return
        status = Status(first)
        self.failures.write(method, code_of(status), what, f"{status.name}: {_reason(pool, status)}")


def first_failure(codes: Sequence[int]) -> int:
    """0 when there is none."""
    return next((code for code in codes if code), 0)


def _reason(pool: Pool, status: Status) -> str:
    try:
        return pool.client.explain() or status.text
    except KvpoolError:
        return status.text


def short(key: object) -> str:
    text = repr(key)
    return text if len(text) <= 80 else text[:77] + "..."
