// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.node.ReadinessTest.SomeStats;
import dev.kvpool.dataplane.secure.PoolSecurity;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class NodeMetricsTest {
    private final NodeMetrics metrics = new NodeMetrics(PoolSecurity.off());

    @Test
    void everyNumberOfTheNodeIsThere() {
        String text = metrics.scrape(Optional.of(SomeStats.withMasters(1, 2)));

        assertThat(text)
                .contains("\nkvpool_node_ascend_transfers_total 46.0\n")
                .contains("\nkvpool_node_ascend_transfer_failures_total 47.0\n")
                .contains("\nkvpool_node_ascend_transfer_timeouts_total 55.0\n")
                .contains("\nkvpool_node_ascend_connects_total 56.0\n")
                .contains("\nkvpool_node_ascend_renewals_total 57.0\n")
                .contains("\nkvpool_node_ascend_disconnects_total 58.0\n")
                .contains("\nkvpool_node_ascend_room_made_total 59.0\n")
                .contains("\nkvpool_node_ascend_retries_total 60.0\n")
                .contains("\nkvpool_node_ascend_channels 61.0\n")
                .contains("\nkvpool_node_ascend_channels_kept 62.0\n")
                .contains("\nkvpool_node_ascend_channels_max 63.0\n")
                .contains("\nmooncake_ssd_read_ops_total 37.0\n")
                .contains("\nmooncake_ssd_write_ops_total 35.0\n")
                .contains("\nmooncake_ssd_write_bytes_total 36.0\n")
                .contains("\nmooncake_ssd_total_ops_total 72.0\n")
                .contains("\nkvpool_node_ssd_read_bytes_total 76.0\n")
                .contains("\nmooncake_ssd_read_bytes_total 76.0\n")
                .contains("\nmooncake_ssd_total_bytes_total 112.0\n")
                .contains("\nkvpool_node_ssd_read_duration_seconds_bucket{le=\"0.0001\"} 1\n")
                .contains("\nkvpool_node_ssd_write_duration_seconds_sum 0.7\n")
                .contains("""
                        # TYPE mooncake_ssd_read_latency_us histogram
                        mooncake_ssd_read_latency_us_bucket{le="100"} 1
                        mooncake_ssd_read_latency_us_bucket{le="1000"} 3
                        mooncake_ssd_read_latency_us_bucket{le="10000"} 6
                        mooncake_ssd_read_latency_us_bucket{le="100000"} 10
                        mooncake_ssd_read_latency_us_bucket{le="1000000"} 15
                        mooncake_ssd_read_latency_us_bucket{le="+Inf"} 21
                        mooncake_ssd_read_latency_us_sum 80000.0
                        mooncake_ssd_read_latency_us_count 21
                        """)
                .contains("\nmooncake_ssd_write_latency_us_count 210\n")
                .contains("\nmooncake_ssd_total_latency_us_bucket{le=\"1000\"} 33\n")
                .contains("\nmooncake_ssd_total_latency_us_sum 780000.0\n")
                .contains("""
                        # TYPE kvpool_node_ascend_transfer_duration_seconds histogram
                        kvpool_node_ascend_transfer_duration_seconds_bucket{le="0.0001"} 64
                        kvpool_node_ascend_transfer_duration_seconds_bucket{le="0.001"} 129
                        kvpool_node_ascend_transfer_duration_seconds_bucket{le="0.01"} 195
                        kvpool_node_ascend_transfer_duration_seconds_bucket{le="0.1"} 262
                        kvpool_node_ascend_transfer_duration_seconds_bucket{le="1"} 330
                        kvpool_node_ascend_transfer_duration_seconds_bucket{le="+Inf"} 399
                        kvpool_node_ascend_transfer_duration_seconds_sum 0.048
                        kvpool_node_ascend_transfer_duration_seconds_count 399
                        """)
                .contains("\nkvpool_node_ascend_connect_duration_seconds_bucket{le=\"0.0001\"} 70\n")
                .contains("\nkvpool_node_ascend_connect_duration_seconds_sum 1.5\n")
                .contains("\nkvpool_node_up 1.0\n")
                .contains("\nkvpool_node_capacity_bytes 1000.0\n")
                .contains("\nkvpool_node_used_bytes 250.0\n")
                .contains("\nkvpool_node_objects 3.0\n")
                .contains("\nkvpool_node_epoch 7.0\n")
                .contains("\nkvpool_node_masters_connected 1.0\n")
                .contains("\nkvpool_node_masters_configured 2.0\n")
                .contains("\nkvpool_node_clients_connected 5.0\n")
                .contains("\nkvpool_node_fenced 1.0\n")
                .contains("\nkvpool_node_restored_objects 2.0\n")
                .contains("\nkvpool_node_dropped_records 1.0\n")
                .contains("\nkvpool_node_writes_total 11.0\n")
                .contains("\nkvpool_node_write_bytes_total 12.0\n")
                .contains("\nkvpool_node_write_failures_total 13.0\n")
                .contains("\nkvpool_node_reads_total 14.0\n")
                .contains("\nkvpool_node_read_bytes_total 15.0\n")
                .contains("\nkvpool_node_read_misses_total 16.0\n")
                .contains("\nkvpool_node_checksum_failures_total 17.0\n")
                .contains("\nkvpool_node_stale_refusals_total 18.0\n")
                .contains("\nkvpool_node_protocol_errors_total 19.0\n")
                .contains("\nkvpool_node_damaged_objects_total 20.0\n")
                .contains("\nkvpool_node_scrub_rounds 21.0\n")
                .contains("\nkvpool_node_scrubbed_bytes_total 22.0\n")
                .contains("\nkvpool_node_copies_in_total 23.0\n")
                .contains("\nkvpool_node_copy_in_bytes_total 24.0\n")
                .contains("\nkvpool_node_tombstones 25.0\n")
                .contains("\nkvpool_node_prefault_bytes 26.0\n")
                .contains("\nkvpool_node_prefaulted_bytes 27.0\n")
                .contains("\nkvpool_node_files_set_aside{reason=\"damaged\"} 38.0\n")
                .contains("\nkvpool_node_files_set_aside{reason=\"foreign\"} 39.0\n")
                .contains("\nkvpool_node_set_aside_bytes 40.0\n")
                .contains("\nkvpool_node_replaced_layout 41.0\n")
                .contains("jvm_memory_used_bytes");
    }

    @Test
    void aNodeThatIsNotOpenIsDown() {
        assertThat(metrics.scrape(Optional.empty())).contains("\nkvpool_node_up 0.0\n");
    }
}
