// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.nativelib.NodeStats;
import dev.kvpool.nativelib.Protocol;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReadinessTest {
    private static final String MASTERS = "a:50051,b:50051";

    @Test
    void aNodeNoMasterKnowsIsNotReadyAndSaysWhomItDials() {
        Readiness readiness = Readiness.of(SomeStats.withMasters(0, 2), MASTERS);

        assertThat(readiness.ready()).isFalse();
        assertThat(readiness.reason()).isEqualTo("0 of 2 masters connected; dialling a:50051,b:50051");
    }

    @Test
    void oneMasterIsEnough() {
        Readiness readiness = Readiness.of(SomeStats.withMasters(1, 2), MASTERS);

        assertThat(readiness.ready()).isTrue();
        assertThat(readiness.reason()).isEqualTo("ready: 1 of 2 masters connected");
    }

    @Test
    void beforeTheSegmentIsOpenAndWhileStoppingItIsNotReady() {
        NodeView view = new NodeView("node-0", MASTERS);

        assertThat(view.readiness()).isEqualTo(Readiness.no("opening the segment"));
        assertThat(view.stats()).isEmpty();
        view.closing();
        assertThat(view.readiness()).isEqualTo(Readiness.no("stopping"));
    }

    /** Statistics of which only the masters matter. */
    static final class SomeStats {
        private SomeStats() {}

        static NodeStats withMasters(int connected, int total) {
            return new NodeStats(
                    50061,
                    0xabcL,
                    1000,
                    250,
                    3,
                    7,
                    connected,
                    total,
                    5,
                    true,
                    2,
                    1,
                    11,
                    12,
                    13,
                    14,
                    15,
                    16,
                    17,
                    18,
                    19,
                    20,
                    21,
                    22,
                    23,
                    24,
                    25,
                    0xfeedL,
                    -2L,
                    26,
                    27,
                    4096,
                    Set.of(Protocol.SHM, Protocol.TCP),
                    28,
                    29,
                    30,
                    31,
                    new NodeStats.Ssd(32, 33, 34, 35, 36, 37, true),
                    new NodeStats.SetAside(38, 39, 40),
                    41,
                    new NodeStats.Ascend(
                            42,
                            43,
                            44,
                            45,
                            46,
                            47,
                            55,
                            Duration.ofMillis(48),
                            new NodeStats.Channels(56, 57, 58, 59, 60, 61, 62, 63)),
                    new NodeStats.Tls(49, 50, 51, 52, 53, 54));
        }
    }
}
