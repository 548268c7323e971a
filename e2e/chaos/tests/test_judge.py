# SPDX-License-Identifier: Apache-2.0
"""Histories made by hand: each kind of violation is found, and what a pool may do is not taken for one."""

import pytest
from kvchaos.evictions import Evicted
from kvchaos.history import MISSING, OK, Operation
from kvchaos.judge import EFFECT_NS_MAX, Circumstances, Judge
from kvchaos.values import FOREIGN
from kvchaos.windows import FOREVER, Windows

KEY = "k"
_calls = iter(range(1, 1 << 30))


def operation(kind: str, start: int, end: int, outcome: str = OK, **more: object) -> Operation:
    more = {"key": KEY, "retried": False} | more
    return Operation("test", next(_calls), kind, start=start, end=end, outcome=outcome, **more)


def put(identity: str, start: int, end: int, outcome: str = OK, size: int = 100, **more: object) -> Operation:
    return operation("put", start, end, outcome, identity=identity, size=size, **more)


def upsert(identity: str, start: int, end: int, outcome: str = OK) -> Operation:
    return operation("upsert", start, end, outcome, identity=identity, size=100)


def got(identity: str, start: int, end: int) -> Operation:
    return operation("get", start, end, identity=identity, size=100)


def missed(start: int, end: int, kind: str = "get", **more: object) -> Operation:
    return operation(kind, start, end, MISSING, **more)


def removed(start: int, end: int, outcome: str = OK, **more: object) -> Operation:
    return operation("remove", start, end, outcome, **more)


def cleared(start: int, end: int, outcome: str = OK, force: bool = True) -> Operation:
    return operation("remove_all", start, end, outcome, key="", force=force)


def kinds(
    *history: Operation, circumstances: Circumstances | None = None, unanswered: tuple[Operation, ...] = ()
) -> list[str]:
    judge = Judge(circumstances or Circumstances())
    judge.add(history)
    return [violation.kind for violation in judge.judge(unanswered)]


NOT_ANSWERED = {"end": FOREVER, "outcome": "unknown", "retried": True}


@pytest.mark.parametrize(
    "history",
    [
        pytest.param([put("1.1", 0, 1), got("1.1", 2, 3)], id="read after put"),
        pytest.param([put("1.1", 0, 9), got("1.1", 2, 3)], id="read during put"),
        pytest.param([put("1.1", 0, 1), put("2.1", 2, 3), got("1.1", 4, 5)], id="the first put wins"),
        pytest.param([put("1.1", 0, 4), put("2.1", 1, 3), got("2.1", 5, 6)], id="either of two at once"),
        pytest.param([put("1.1", 0, 1), removed(2, 6), got("1.1", 3, 4)], id="read while it is removed"),
        pytest.param([put("1.1", 0, 1), removed(2, 3), missed(4, 5)], id="removed"),
        pytest.param([put("1.1", 0, 1), removed(2, 5), missed(3, 4)], id="missing while it is removed"),
        pytest.param([put("1.1", 0, 1), removed(2, 3, "has_lease"), got("1.1", 4, 5)], id="removal refused"),
        pytest.param(
            [put("1.1", 0, 1), removed(2, 3), put("2.1", 4, 5), got("2.1", 6, 7)], id="put again after a removal"
        ),
        pytest.param([put("1.1", 0, 1), upsert("2.1", 2, 3), got("2.1", 4, 5)], id="upsert replaces"),
        pytest.param([put("1.1", 0, 1), upsert("2.1", 2, 6), got("1.1", 3, 4)], id="old value during upsert"),
        pytest.param([put("1.1", 0, 1, "timeout"), got("1.1", 5, 6)], id="a put that timed out came true"),
        pytest.param([put("1.1", 0, 1, "timeout"), missed(5, 6)], id="a put that timed out did not"),
        pytest.param(
            [put("1.1", 0, 1, "timeout"), removed(2, 3), got("1.1", 5, 6)], id="a put that timed out comes true late"
        ),
        pytest.param([put("=", 0, 1, size=0), put("=", 2, 3, size=0), got("=", 4, 5)], id="empty values are alike"),
        pytest.param([put("1.1", 0, 1), removed(2, 3, "timeout"), missed(4, 5)], id="a removal that timed out"),
        pytest.param(
            [put("1.1", 0, 1), removed(2, 3, "timeout", retried=True), missed(EFFECT_NS_MAX, EFFECT_NS_MAX + 1)],
            id="a removal that came true late",
        ),
        pytest.param([put("1.1", 0, 1), cleared(2, 3), missed(4, 5)], id="all removed"),
        pytest.param([put("1.1", 0, 1), cleared(2, 3, force=False), got("1.1", 4, 5)], id="all removed but the leased"),
        pytest.param([put("1.1", 0, 1), cleared(2, 3, force=False), missed(4, 5)], id="all unleased removed"),
        pytest.param([missed(0, 1), missed(2, 3, "exists")], id="never put"),
        pytest.param([put("1.1", 0, 1), missed(0, 2)], id="asked before the put was acknowledged"),
        pytest.param([put("1.1", 0, 1), operation("exists", 2, 3, size=100)], id="exists with its size"),
        pytest.param([put("1.1", 0, 1), operation("exists", 2, 3)], id="exists, size not told"),
        pytest.param(
            [put("1.1", 0, 1), removed(2, 9), missed(3, 4, "remove", retried=True)], id="a removal met its own effect"
        ),
    ],
)
def test_what_a_pool_may_do(history: list[Operation]) -> None:
    assert kinds(*history) == []


@pytest.mark.parametrize(
    "history",
    [
        pytest.param([put("1.1", 0, 1), got(FOREIGN, 2, 3)], id="foreign bytes"),
        pytest.param([put("1.1", 0, 1), got("7.7", 2, 3)], id="never put"),
        pytest.param([got("1.1", 0, 1), put("1.1", 2, 3)], id="read before its put"),
        pytest.param([put("1.1", 0, 1), removed(2, 3), got("1.1", 4, 5)], id="removed"),
        pytest.param([put("1.1", 0, 1), cleared(2, 3), got("1.1", 4, 5)], id="all removed"),
        pytest.param([put("1.1", 0, 1), upsert("2.1", 2, 3), got("1.1", 4, 5)], id="replaced"),
        pytest.param(
            [put("1.1", 0, 1), put("2.1", 0, 1), got("1.1", 2, 3), got("2.1", 4, 5), got("1.1", 6, 7)],
            id="back after another value was read",
        ),
        pytest.param(
            [put("1.1", 0, 1, "timeout"), got("1.1", 2, 3), removed(4, 5), got("1.1", 6, 7)],
            id="a put that timed out comes true twice",
        ),
        pytest.param(
            [put("1.1", 0, 1), removed(2, 3), operation("exists", 4, 5, size=100)], id="exists after its removal"
        ),
        pytest.param([put("1.1", 0, 1), operation("exists", 2, 3, size=99)], id="exists with another size"),
        pytest.param([operation("exists", 2, 3)], id="exists, never put"),
    ],
)
def test_wrong_reads(history: list[Operation]) -> None:
    assert kinds(*history) == ["wrong"]


@pytest.mark.parametrize(
    "history",
    [
        pytest.param([put("1.1", 0, 1), missed(2, 3)], id="get"),
        pytest.param([put("1.1", 0, 1), missed(2, 3, "exists")], id="exists"),
        pytest.param([put("1.1", 0, 1), missed(2, 3, "remove")], id="remove"),
        pytest.param([upsert("1.1", 0, 1), missed(2, 3)], id="upsert"),
        pytest.param([put("1.1", 0, 1), removed(2, 3), put("2.1", 4, 5), missed(6, 7)], id="put after a removal"),
        pytest.param([put("1.1", 0, 1), removed(2, 3, "has_lease"), missed(4, 5)], id="removal refused"),
        pytest.param([put("1.1", 0, 1), missed(EFFECT_NS_MAX, EFFECT_NS_MAX + 1)], id="long after"),
        pytest.param(
            [put("1.1", 0, 1), cleared(2, 3, "timeout"), put("2.1", 4, 5), missed(6, 7)], id="not the removal of before"
        ),
    ],
)
def test_losses(history: list[Operation]) -> None:
    assert kinds(*history) == ["lost"]


def reused(identity: str, start: int, end: int) -> Operation:
    return operation("get", start, end, identity=identity, size=100, reuse=True)


@pytest.mark.parametrize(
    ("history", "found"),
    [
        pytest.param([put("1.1", 0, 1), removed(2, 30, force=True), reused("1.1", 39, 40)], [], id="removed"),
        pytest.param([put("1.1", 0, 1), removed(2, 30, force=True), reused("1.1", 41, 42)], ["wrong"], id="too late"),
        pytest.param([put("1.1", 0, 1), upsert("2.1", 2, 30), reused("1.1", 39, 40)], [], id="replaced"),
        pytest.param([put("1.1", 0, 1), upsert("2.1", 2, 30), got("1.1", 39, 40)], ["wrong"], id="asked anew"),
        pytest.param([put("1.1", 0, 1), reused("7.7", 2, 3)], ["wrong"], id="never put"),
        pytest.param([put("1.1", 30, 31), missed(32, 33, reuse=True)], ["lost"], id="missing"),
        pytest.param(
            [put("1.1", 0, 1), upsert("2.1", 2, 30), got("2.1", 31, 32), reused("1.1", 33, 34), got("2.1", 35, 36)],
            [],
            id="what is read late does not show that what came after it is gone",
        ),
    ],
)
def test_a_client_that_reuses_may_be_late_by_a_lease(history: list[Operation], found: list[str]) -> None:
    assert kinds(*history, circumstances=Circumstances(lease_ns=10)) == found


def test_a_removal_under_way_excuses_a_miss() -> None:
    under_way = operation("remove", 2, **NOT_ANSWERED)
    assert kinds(put("1.1", 0, 1), missed(3, 4), unanswered=(under_way,)) == []


def test_a_put_under_way_may_be_read() -> None:
    under_way = put("1.1", 0, **NOT_ANSWERED)
    assert kinds(got("1.1", 3, 4), unanswered=(under_way,)) == []


def test_a_client_that_died_in_a_removal_excuses_no_miss_for_ever() -> None:
    died = operation("remove", 2, **NOT_ANSWERED)
    late = 2 * EFFECT_NS_MAX
    assert kinds(put("1.1", 0, 1), missed(late, late + 1), unanswered=(died,)) == []
    assert kinds(put("1.1", late, late + 1), missed(late + 2, late + 3), unanswered=(died,)) == ["lost"]


def at_the_watermark(*times: int, key: str = KEY, full: tuple[int, int] = (0, 99)) -> Circumstances:
    """`times`: of evictions that were written down."""
    return Circumstances(evicting=Windows([full]), evicted=Evicted({key: list(times)}))


def test_nothing_is_lost_that_was_evicted() -> None:
    history = [put("1.1", 2, 4), missed(8, 9)]
    judge = Judge(at_the_watermark(5))
    judge.add(history)
    assert judge.judge(()) == []
    assert judge.counts.misses_of_evicted == 1
    assert kinds(*history, circumstances=at_the_watermark(3)) == [], "the value may have been there before its answer"
    assert kinds(*history, circumstances=at_the_watermark(9)) == [], "while it was asked for"


def test_a_loss_at_the_watermark_is_found() -> None:
    history = [put("1.1", 2, 4), missed(8, 9)]
    assert kinds(*history, circumstances=at_the_watermark()) == ["lost"], "nothing was evicted"
    assert kinds(*history, circumstances=at_the_watermark(5, key="other")) == ["lost"]
    assert kinds(*history, circumstances=at_the_watermark(1)) == ["lost"], "that was an older object of the key"
    assert kinds(*history, circumstances=at_the_watermark(10)) == ["lost"], "it was missing before"
    again = [put("1.1", 2, 4), put("2.1", 6, 7), missed(8, 9)]
    assert kinds(*again, circumstances=at_the_watermark(5)) == ["lost"], "it was put again after its eviction"


def test_an_eviction_far_below_the_watermark_excuses_nothing() -> None:
    history = [put("1.1", 2, 4), missed(8, 9)]
    assert kinds(*history, circumstances=at_the_watermark(5, full=(10, 14))) == ["lost"]


def test_nothing_is_lost_while_a_node_may_be_out_of_sight() -> None:
    hidden = Circumstances(hidden=Windows([(5, 6)]))
    judge = Judge(hidden)
    judge.add([put("1.1", 0, 1), missed(5, 6), missed(8, 9)])
    assert [violation.operation.start for violation in judge.judge(())] == [8], "afterwards it must be there again"
    assert judge.counts.misses_of_promised == 1


def test_what_lay_in_memory_that_went_is_not_lost() -> None:
    gone = Circumstances(perishable=Windows([(2, 3)]))
    assert kinds(put("1.1", 2, 3), missed(8, 9), circumstances=gone) == []
    older = [put("1.1", 2, 3), put("2.1", 5, 6), missed(8, 9)]
    assert kinds(*older, circumstances=gone) == [], "the put of 5 may have found the value of 2"
    renewed = [put("1.1", 2, 3), removed(4, 5), put("2.1", 6, 7), missed(8, 9)]
    assert kinds(*renewed, circumstances=gone) == ["lost"], "this put found nothing: its value is its own"


@pytest.mark.parametrize("removal", [removed(2, 3), cleared(2, 3)], ids=["remove", "remove_all"])
def test_what_was_removed_does_not_come_back_with_a_node_that_was_away(removal: Operation) -> None:
    hidden = Circumstances(hidden=Windows([(1, 4)]))
    assert kinds(put("1.1", 0, 1), removal, got("1.1", 5, 6), circumstances=hidden) == ["wrong"]


def test_keys_are_judged_apart() -> None:
    assert kinds(put("1.1", 0, 1), missed(2, 3, key="other")) == []
    assert kinds(put("1.1", 0, 1, key="other"), got("1.1", 2, 3)) == ["wrong"]


def test_each_read_is_judged_once_and_with_all_that_was_known_before() -> None:
    judge = Judge(Circumstances())
    judge.add([put("1.1", 0, 1), removed(2, 3)])
    assert judge.judge(()) == []
    judge.add([got("1.1", 4, 5)])
    assert [violation.kind for violation in judge.judge(())] == ["wrong"]
    assert judge.judge(()) == []
    judge.add([got("1.1", 6, 7)])
    assert len(judge.judge(())) == 1


def test_a_violation_tells_its_evidence() -> None:
    judge = Judge(Circumstances())
    judge.add([put("1.1", 0, 1), removed(2, 3), got("1.1", 4, 5)])
    (violation,) = judge.judge(())
    told = str(violation)
    assert all(word in told for word in ("wrong", "get k 1.1", "put k 1.1", "remove k"))


def test_what_is_promised() -> None:
    judge = Judge(Circumstances())
    judge.add([put("1.1", 0, 1, key="kept"), put("1.2", 0, 1, key="removed"), removed(2, 3, key="removed")])
    judge.add([put("1.3", 0, 1, "timeout", key="unknown"), put("1.4", 4, 5, key="late")])
    assert judge.promised() == ["kept", "late"]
    judge.add([cleared(3, 4)])
    assert judge.promised() == ["late"]
