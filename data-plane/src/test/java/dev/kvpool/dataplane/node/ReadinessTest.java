// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.nativelib.NativeStats;
import java.util.Map;
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
        NodeLifecycle view = new NodeLifecycle("node-0", MASTERS);

        assertThat(view.readiness()).isEqualTo(Readiness.no("opening the segment"));
        assertThat(view.stats()).isEmpty();
        view.closing();
        assertThat(view.readiness()).isEqualTo(Readiness.no("stopping"));
    }

    /** Statistics of which only the masters matter. */
    static final class SomeStats {
        private SomeStats() {}

        static NativeStats withMasters(int connected, int total) {
            return new NativeStats(Map.ofEntries(
                    Map.entry("listen_port", 50061L),
                    Map.entry("incarnation", 0xabcL),
                    Map.entry("capacity_bytes", 1000L),
                    Map.entry("used_bytes", 250L),
                    Map.entry("objects", 3L),
                    Map.entry("epoch", 7L),
                    Map.entry("masters_connected", (long) connected),
                    Map.entry("masters_total", (long) total),
                    Map.entry("clients_connected", 5L),
                    Map.entry("fenced", 1L),
                    Map.entry("restored_objects", 2L),
                    Map.entry("dropped_records", 1L),
                    Map.entry("writes", 11L),
                    Map.entry("write_bytes", 12L),
                    Map.entry("write_failures", 13L),
                    Map.entry("reads", 14L),
                    Map.entry("read_bytes", 15L),
                    Map.entry("read_misses", 16L),
                    Map.entry("checksum_failures", 17L),
                    Map.entry("stale_refusals", 18L),
                    Map.entry("protocol_errors", 19L),
                    Map.entry("damaged_objects", 20L),
                    Map.entry("scrub_rounds", 21L),
                    Map.entry("scrubbed_bytes", 22L),
                    Map.entry("copies_in", 23L),
                    Map.entry("copies_in_bytes", 24L),
                    Map.entry("tombstones", 25L),
                    Map.entry("ids_hash", 0xfeedL),
                    Map.entry("restored_ids_hash", -2L),
                    Map.entry("prefault_bytes", 26L),
                    Map.entry("prefaulted_bytes", 27L),
                    Map.entry("page_bytes", 4096L),
                    Map.entry("protocols", 3L),
                    Map.entry("ucx_clients", 28L),
                    Map.entry("ucx_refusals", 29L),
                    Map.entry("ucx_write_bytes", 30L),
                    Map.entry("ucx_read_bytes", 31L),
                    Map.entry("replaced_layout", 41L),
                    Map.entry("ssd_capacity_bytes", 32L),
                    Map.entry("ssd_used_bytes", 33L),
                    Map.entry("ssd_objects", 34L),
                    Map.entry("ssd_writes", 35L),
                    Map.entry("ssd_write_bytes", 36L),
                    Map.entry("ssd_reads", 37L),
                    Map.entry("ssd_read_bytes", 76L),
                    Map.entry("ssd_read_us", 80_000L),
                    Map.entry("ssd_reads_in_100us", 1L),
                    Map.entry("ssd_reads_in_1ms", 2L),
                    Map.entry("ssd_reads_in_10ms", 3L),
                    Map.entry("ssd_reads_in_100ms", 4L),
                    Map.entry("ssd_reads_in_1s", 5L),
                    Map.entry("ssd_reads_longer", 6L),
                    Map.entry("ssd_write_us", 700_000L),
                    Map.entry("ssd_writes_in_100us", 10L),
                    Map.entry("ssd_writes_in_1ms", 20L),
                    Map.entry("ssd_writes_in_10ms", 30L),
                    Map.entry("ssd_writes_in_100ms", 40L),
                    Map.entry("ssd_writes_in_1s", 50L),
                    Map.entry("ssd_writes_longer", 60L),
                    Map.entry("ssd_off", 1L),
                    Map.entry("damaged_files_set_aside", 38L),
                    Map.entry("foreign_files_set_aside", 39L),
                    Map.entry("set_aside_bytes", 40L),
                    Map.entry("ascend_clients", 42L),
                    Map.entry("ascend_refusals", 43L),
                    Map.entry("ascend_write_bytes", 44L),
                    Map.entry("ascend_read_bytes", 45L),
                    Map.entry("ascend_transfers", 46L),
                    Map.entry("ascend_transfer_failures", 47L),
                    Map.entry("ascend_transfer_timeouts", 55L),
                    Map.entry("ascend_transfer_us", 48_000L),
                    Map.entry("ascend_connects", 56L),
                    Map.entry("ascend_renewals", 57L),
                    Map.entry("ascend_disconnects", 58L),
                    Map.entry("ascend_room_made", 59L),
                    Map.entry("ascend_retries", 60L),
                    Map.entry("ascend_channels", 61L),
                    Map.entry("ascend_channels_kept", 62L),
                    Map.entry("ascend_channels_max", 63L),
                    Map.entry("ascend_transfers_in_100us", 64L),
                    Map.entry("ascend_transfers_in_1ms", 65L),
                    Map.entry("ascend_transfers_in_10ms", 66L),
                    Map.entry("ascend_transfers_in_100ms", 67L),
                    Map.entry("ascend_transfers_in_1s", 68L),
                    Map.entry("ascend_transfers_longer", 69L),
                    Map.entry("ascend_connect_us", 1_500_000L),
                    Map.entry("ascend_connects_in_100us", 70L),
                    Map.entry("ascend_connects_in_1ms", 71L),
                    Map.entry("ascend_connects_in_10ms", 72L),
                    Map.entry("ascend_connects_in_100ms", 73L),
                    Map.entry("ascend_connects_in_1s", 74L),
                    Map.entry("ascend_connects_longer", 75L),
                    Map.entry("tls_handshakes", 49L),
                    Map.entry("tls_handshake_failures", 50L),
                    Map.entry("tls_plain_refusals", 51L),
                    Map.entry("auth_refusals", 52L),
                    Map.entry("grant_refusals", 53L),
                    Map.entry("tls_not_after_ms", 54L)));
        }
    }
}
