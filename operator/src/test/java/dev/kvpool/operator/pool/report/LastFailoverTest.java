// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.FailoverCause;
import dev.kvpool.api.v1alpha1.status.FailoverStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The status tells of the last change of leaders, and changes with the next one only. */
class LastFailoverTest {
    private static final FailoverStatus OLD = new FailoverStatus(
            3L, "2026-01-01T10:00:00Z", "demo-master-1", "demo-master-0", FailoverCause.HANDOVER, "20ms");

    @ParameterizedTest
    @CsvSource({
        "died, LEADER_DIED, 57, 57ms",
        "released, HANDOVER, 0, 0ms",
        "silent, LEADER_SILENT, 1734, 1.7s",
        "expired, LEASE_EXPIRED, 5312, 5.3s",
        "deleted, LEASE_DELETED, 999, 999ms",
        "raised, LEADER_LAPSED, 1000, 1.0s",
    })
    void whatTheLeaderTells(String told, FailoverCause cause, long millis, String duration) {
        var takeover = new PoolReport.Takeover(4, told, "demo-master-1", millis, "2026-01-01T11:00:00.123456Z");

        assertThat(next(OLD, takeover))
                .isEqualTo(new FailoverStatus(
                        4L, "2026-01-01T11:00:00Z", "demo-master-1", "demo-master-0", cause, duration));
    }

    @Test
    void nothingChangesWithoutAnotherEpoch() {
        var sameEpoch = new PoolReport.Takeover(3, "released", "demo-master-1", 21, "2026-01-01T10:00:00.9Z");

        assertThat(next(OLD, sameEpoch)).isSameAs(OLD);
        assertThat(next(OLD, null)).isSameAs(OLD);
        assertThat(LastFailover.next(OLD, Optional.empty())).isSameAs(OLD);
    }

    @Test
    void theFirstLeaderIsNoFailoverAndUnknownCausesAreNotGuessedAt() {
        assertThat(next(null, new PoolReport.Takeover(1, "first", "", 5, ""))).isNull();
        assertThat(next(null, new PoolReport.Takeover(2, "voted", "", 5, ""))).isNull();
        assertThat(next(null, new PoolReport.Takeover(2, null, null, 5, null))).isNull();
    }

    @Test
    void whatTheLeaderHasNotSeenIsLeftOut() {
        FailoverStatus status = next(null, new PoolReport.Takeover(2, "released", "", 5, "yesterday"));

        assertThat(status.from()).isNull();
        assertThat(status.at()).isNull();
        assertThat(status.to()).isEqualTo("demo-master-0");
    }

    private static FailoverStatus next(FailoverStatus old, PoolReport.Takeover takeover) {
        PoolReport report = Reports.after(
                takeover, Reports.leader("demo-master-0", 4, List.of()).build());
        return LastFailover.next(old, Optional.of(report));
    }
}
