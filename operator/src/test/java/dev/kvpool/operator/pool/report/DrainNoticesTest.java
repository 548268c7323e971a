// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.pool.PoolSketch;
import java.util.Arrays;
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
    void onesThatComeBackAreSaidToBeMadeAnew() {
        assertThat(Arrays.stream(DrainPhase.values())
                        .flatMap(phase -> notices(comingBack(phase)).stream())
                        .map(Notice::note))
                .containsExactly(
                        "s-1 has earlier settings and cannot be emptied now.",
                        "s-1 is being emptied, to be made anew with the present settings.",
                        "s-1 could not be emptied in time: 2 objects have no other place. It stays and is tried again.",
                        "s-1 is empty and made anew.",
                        "s-1 is made anew as it is: 2 objects have no other place.",
                        "s-1 is being emptied, to be made anew with the present settings.",
                        "s-1 stays after all and takes part again.",
                        "s-1 has been made anew and takes part again with its next pod.");
    }

    private static DrainStatus comingBack(DrainPhase phase) {
        return new DrainStatus("s-1", phase, "2026-01-01T00:00:00Z", 2L, null, null, null, true, null);
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
