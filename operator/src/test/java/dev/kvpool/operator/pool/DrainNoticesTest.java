// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What events say of storage nodes whose time is over. */
class DrainNoticesTest {
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
                                "The pod of s-1 may be evicted from worker-1 as it is: nobody can tell how many objects"
                                        + " have no other place."));
    }

    @Test
    void aPhaseThatWasThereBeforeIsNotNews() {
        var status = PoolSketch.statusWith(List.of(dropped(1L, HOST)));

        assertThat(DrainNotices.of(status, status)).isEmpty();
    }

    private static List<Notice> notices(DrainStatus... drains) {
        return DrainNotices.of(PoolSketch.statusWith(List.of()), PoolSketch.statusWith(List.of(drains)));
    }

    private static DrainStatus dropped(Long objectsLeft, String host) {
        return new DrainStatus("s-1", DrainPhase.DROPPED, "2026-01-01T00:00:00Z", objectsLeft, null, null, host);
    }
}
