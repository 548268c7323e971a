// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.pool.PoolSketch;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What events say of storage nodes whose time is over. */
class StepNoticesTest {
    private static final String NOON = "2026-01-01T12:00:00Z";
    private static final String HOST = "worker-1";

    @Test
    void nothingIsSaidToBeDroppedWhereOnlyReadersAreWaitedFor() {
        assertThat(notices(dropped(0L, HOST), dropped(0L, null)))
                .extracting(Notice::reason, Notice::note)
                .containsExactly(
                        tuple(
                                EventReason.DRAIN_FINISHED,
                                "The pod of s-1 may be evicted from worker-1: all it holds has another place."),
                        tuple(EventReason.DRAIN_FINISHED, "s-1 goes: all it holds has another place."));
    }

    @Test
    void whatIsDroppedIsCountedAndWhatNobodyCanCountIsSaidToo() {
        assertThat(notices(dropped(1L, HOST), dropped(null, HOST)))
                .extracting(Notice::reason, Notice::note)
                .containsExactly(
                        tuple(
                                EventReason.OBJECTS_DROPPED,
                                "The pod of s-1 may be evicted from worker-1 as it is: 1 objects have no other place."),
                        tuple(
                                EventReason.OBJECTS_DROPPED,
                                "The pod of s-1 may be evicted from worker-1 as it is: it is not known how many objects"
                                        + " have no other place."));
    }

    @Test
    void oneThatIsEmptyForAUserIsNotSaidToBeEvictable() {
        StepStatus empty = new StepStatus("s-1", StepKind.EMPTY, StepCause.REQUEST, StepState.EMPTY, NOON).on(HOST);
        StepStatus cordoned = new StepStatus("s-1", StepKind.EMPTY, StepCause.CORDON, StepState.EMPTY, NOON).on(HOST);

        assertThat(notices(empty, cordoned))
                .extracting(Notice::note)
                .containsExactly(
                        "s-1 is empty, as a user asked.", "s-1 is empty; its pod may be evicted from worker-1.");
    }

    @Test
    void onesThatComeBackAreSaidToBeRecreated() {
        assertThat(Arrays.stream(StepState.values())
                        .flatMap(state ->
                                notices(settings(StepKind.EMPTY, state), settings(StepKind.REPLACE, state)).stream())
                        .map(Notice::note))
                .contains(
                        "s-1 is being emptied, to be recreated with the present settings.",
                        "s-1 could not be emptied in time: 2 objects have no other place. It stays and is tried again.",
                        "s-1 is recreated with the present settings.",
                        "s-1 is recreated as it is: 2 objects have no other place.");
    }

    @Test
    void aStepOfAnUpgradeIsToldOnce() {
        StepStatus known = new StepStatus("demo-a-1", StepKind.RESTART, StepCause.UPGRADE, StepState.UNDER_WAY, NOON);
        StepStatus next = new StepStatus("demo-a-0", StepKind.RESTART, StepCause.UPGRADE, StepState.UNDER_WAY, NOON);
        StepStatus waits = new StepStatus("demo-a-2", StepKind.RESTART, StepCause.UPGRADE, StepState.WAITING, NOON);

        assertThat(StepNotices.of(
                        PoolSketch.statusWith(List.of(known)), PoolSketch.statusWith(List.of(known, next, waits))))
                .containsExactly(new Notice(EventReason.UPGRADE_STEP, "demo-a-0 restarts with the other image."));
    }

    @Test
    void onesThatFailAreToldWithTheReason() {
        StepStatus failed = settings(StepKind.REPLACE, StepState.FAILED).in(StepState.FAILED, "s-1 did not get ready");

        assertThat(notices(failed)).containsExactly(new Notice(EventReason.STEP_FAILED, "s-1 did not get ready."));
    }

    private static StepStatus settings(StepKind kind, StepState state) {
        return new StepStatus("s-1", kind, StepCause.SETTINGS, state, NOON).left(2L, null);
    }

    @Test
    void aPhaseThatWasThereBeforeIsNotNews() {
        var status = PoolSketch.statusWith(List.of(dropped(1L, HOST)));

        assertThat(StepNotices.of(status, status)).isEmpty();
    }

    private static List<Notice> notices(StepStatus... drains) {
        return StepNotices.of(PoolSketch.statusWith(List.of()), PoolSketch.statusWith(List.of(drains)));
    }

    private static StepStatus dropped(Long objectsLeft, String host) {
        return PoolSketch.emptying("s-1", StepState.DROPPED, NOON, host).left(objectsLeft, null);
    }
}
