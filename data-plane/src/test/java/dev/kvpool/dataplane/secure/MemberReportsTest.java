// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MemberReportsTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final String A = "a".repeat(16);
    private static final String B = "b".repeat(16);
    private static final Optional<Instant> END = Optional.of(Instant.parse("2026-01-02T12:00:00Z"));

    private long nowMs = 5;
    private final MemberReports reports = new MemberReports(() -> nowMs);

    private static PeerName name(String path) {
        return PeerName.ofPath(POOL, path);
    }

    @Test
    void theLastWordOfEachCountsForAQuarterOfAnHour() {
        reports.add(name("node/n-1"), A, A, END);
        reports.add(name("agent/w"), A, A, END);
        nowMs += 60_000;
        reports.add(name("node/n-1"), B, A, END);

        assertThat(reports.all())
                .containsExactly(
                        new MemberReports.Said("agent/w", A, A, END, 5),
                        new MemberReports.Said("node/n-1", B, A, END, 60_005));
        nowMs = 5 + MemberReports.KEPT.toMillis() + 1;
        assertThat(reports.all()).extracting(MemberReports.Said::name).containsExactly("node/n-1");
    }

    @Test
    void thereIsRoomForSoManyAndThoseThatAreKnownHaveTheirs() {
        for (int i = 0; i < MemberReports.COUNT_MAX; i++) {
            assertThat(reports.add(name("node/n-" + i), A, A, END)).isTrue();
        }
        assertThat(reports.add(name("node/more"), A, A, END)).isFalse();
        assertThat(reports.add(name("node/n-7"), B, A, END)).isTrue();
        nowMs += MemberReports.KEPT.toMillis() + 1;
        assertThat(reports.add(name("node/more"), A, A, END)).isTrue();
        assertThat(reports.all()).hasSize(1);
    }

    @Test
    void nodesAndAgentsAreWaitedFor() {
        assertThat(Stream.of(PeerRole.values()).filter(MemberReports::matters))
                .containsExactlyInAnyOrder(PeerRole.NODE, PeerRole.AGENT);
    }
}
