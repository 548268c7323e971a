// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.VersionStatus;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.pool.PoolSketch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One event for each phase and step of an upgrade, and none for a look that changes nothing. */
class RollNoticesTest {
    private static final String NOON = PoolSketch.NOON.toString();

    @ParameterizedTest
    @CsvSource({
        "PREFLIGHT, ROLLING, UPGRADE_STARTED",
        "PREFLIGHT, BLOCKED, UPGRADE_BLOCKED",
        "ROLLING, GOING_BACK, UPGRADE_GOES_BACK",
        "GOING_BACK, FAILED, UPGRADE_FAILED"
    })
    void aPhaseIsToldOnce(RollPhase before, RollPhase now, EventReason reason) {
        KvCachePoolStatus later = status(now);

        assertThat(RollNotices.of(status(before), later))
                .extracting(Notice::reason)
                .containsExactly(reason);
        assertThat(RollNotices.of(later, later)).isEmpty();
    }

    @Test
    void theEndIsToldWhereThereWasOne() {
        assertThat(RollNotices.of(status(RollPhase.FINALISING), KvCachePoolStatus.EMPTY))
                .containsExactly(new Notice(EventReason.UPGRADE_FINISHED, "All of the pool runs kvpool:2."));
        assertThat(RollNotices.of(status(RollPhase.BLOCKED), KvCachePoolStatus.EMPTY))
                .isEmpty();
    }

    /** The upgrade was told when the rest of the pool was upgraded. */
    @Test
    void whoWasLeftOutGoesOverWithoutAnotherBeginningAndEnd() {
        assertThat(RollNotices.of(KvCachePoolStatus.EMPTY, stragglers(RollPhase.ROLLING)))
                .isEmpty();
        assertThat(RollNotices.of(stragglers(RollPhase.FINALISING), KvCachePoolStatus.EMPTY))
                .isEmpty();
    }

    @Test
    void higherVersionsAreToldOnce() {
        KvCachePoolStatus before = PoolSketch.statusWith(new VersionStatus("0.2.0", "0.2.0", "kvpool:2", 1, 2, null));
        KvCachePoolStatus now = PoolSketch.statusWith(new VersionStatus("0.2.0", "0.2.0", "kvpool:2", 2, 2, null));

        assertThat(RollNotices.of(before, now))
                .containsExactly(new Notice(
                        EventReason.VERSIONS_RAISED,
                        "The pool speaks wire version 2 and writes segment layout 2 from now on."));
        assertThat(RollNotices.of(now, now)).isEmpty();
        assertThat(RollNotices.of(KvCachePoolStatus.EMPTY, now))
                .as("it is not known what was before")
                .isEmpty();
    }

    private static KvCachePoolStatus status(RollPhase phase) {
        return PoolSketch.statusWith(new RollStatus("kvpool:2", "kvpool:1", phase, RollMode.WARM, NOON, "why", null));
    }

    private static KvCachePoolStatus stragglers(RollPhase phase) {
        return PoolSketch.statusWith(new RollStatus("kvpool:2", "kvpool:2", phase, RollMode.WARM, NOON, null, null));
    }
}
