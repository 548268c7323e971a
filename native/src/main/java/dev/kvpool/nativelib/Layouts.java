// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.util.List;

/**
 * The structs of kvpool.h and agent.h that Java uses, field for field: u32 for 32-bit fields, u64 for 64-bit fields and pointers. LayoutTest compares
 * sizes, names, offsets and widths with what the C compiler says.
 */
final class Layouts {
    static final StructLayout VERSIONS = struct(
            "kv_versions",
            u32("struct_size"),
            u32("wire_min"),
            u32("wire_max"),
            u32("layout_min"),
            u32("layout_max"),
            u32("abi_min"),
            u32("abi_max"),
            u32("reserved"));

    static final StructLayout NODE_PARAMS = struct(
            "kv_node_params",
            u32("struct_size"),
            u32("flags"),
            pointer("pool_id"),
            pointer("node_id"),
            pointer("masters"),
            pointer("listen_host"),
            pointer("advertise_host"),
            pointer("data_dir"),
            u64("segment_bytes"),
            u32("listen_port"),
            u32("protocols"),
            u32("connect_timeout_ms"),
            u32("transfer_timeout_ms"),
            pointer("product"),
            pointer("zone"),
            u64("scrub_bytes_per_second"),
            pointer("numa"),
            pointer("ssd_path"),
            u64("ssd_bytes"),
            pointer("socket_dir"),
            u32("idle_timeout_ms"),
            u32("reserved"),
            u64("staging_bytes"),
            pointer("memory_path"),
            u64("memory_offset"),
            pointer("ssd_key_file"),
            pointer("tls_dir"),
            u32("tls_mode"),
            u32("payloads"));

    static final StructLayout NODE_STATS = struct(
            "kv_node_stats",
            u32("struct_size"),
            u32("listen_port"),
            u64("incarnation"),
            u64("capacity_bytes"),
            u64("used_bytes"),
            u64("objects"),
            u64("epoch"),
            u32("masters_connected"),
            u32("masters_total"),
            u32("clients_connected"),
            u32("fenced"),
            u64("restored_objects"),
            u64("dropped_records"),
            u64("writes"),
            u64("write_bytes"),
            u64("write_failures"),
            u64("reads"),
            u64("read_bytes"),
            u64("read_misses"),
            u64("checksum_failures"),
            u64("stale_refusals"),
            u64("protocol_errors"),
            u64("damaged_objects"),
            u64("scrub_rounds"),
            u64("scrubbed_bytes"),
            u64("copies_in"),
            u64("copies_in_bytes"),
            u64("tombstones"),
            u64("ids_hash"),
            u64("restored_ids_hash"),
            u64("prefault_bytes"),
            u64("prefaulted_bytes"),
            u64("page_bytes"),
            u32("protocols"),
            u32("ucx_clients"),
            u64("ucx_refusals"),
            u64("ucx_write_bytes"),
            u64("ucx_read_bytes"),
            u64("ssd_capacity_bytes"),
            u64("ssd_used_bytes"),
            u64("ssd_objects"),
            u64("ssd_writes"),
            u64("ssd_write_bytes"),
            u64("ssd_reads"),
            u64("ssd_off"),
            u64("damaged_files_set_aside"),
            u64("foreign_files_set_aside"),
            u64("set_aside_bytes"),
            u64("replaced_layout"),
            u64("ascend_clients"),
            u64("ascend_refusals"),
            u64("ascend_write_bytes"),
            u64("ascend_read_bytes"),
            u64("ascend_transfers"),
            u64("ascend_transfer_failures"),
            u64("ascend_transfer_us"),
            u64("tls_handshakes"),
            u64("tls_handshake_failures"),
            u64("tls_plain_refusals"),
            u64("auth_refusals"),
            u64("grant_refusals"),
            u64("tls_not_after_ms"),
            u64("ascend_transfer_timeouts"),
            u64("ascend_retries"),
            u64("ascend_connects"),
            u64("ascend_renewals"),
            u64("ascend_disconnects"),
            u64("ascend_room_made"),
            u64("ascend_channels"),
            u64("ascend_channels_kept"),
            u64("ascend_channels_max"),
            u64("ascend_transfers_in_100us"),
            u64("ascend_transfers_in_1ms"),
            u64("ascend_transfers_in_10ms"),
            u64("ascend_transfers_in_100ms"),
            u64("ascend_transfers_in_1s"),
            u64("ascend_transfers_longer"),
            u64("ascend_connect_us"),
            u64("ascend_connects_in_100us"),
            u64("ascend_connects_in_1ms"),
            u64("ascend_connects_in_10ms"),
            u64("ascend_connects_in_100ms"),
            u64("ascend_connects_in_1s"),
            u64("ascend_connects_longer"),
            u64("ssd_read_bytes"),
            u64("ssd_read_us"),
            u64("ssd_reads_in_100us"),
            u64("ssd_reads_in_1ms"),
            u64("ssd_reads_in_10ms"),
            u64("ssd_reads_in_100ms"),
            u64("ssd_reads_in_1s"),
            u64("ssd_reads_longer"),
            u64("ssd_write_us"),
            u64("ssd_writes_in_100us"),
            u64("ssd_writes_in_1ms"),
            u64("ssd_writes_in_10ms"),
            u64("ssd_writes_in_100ms"),
            u64("ssd_writes_in_1s"),
            u64("ssd_writes_longer"));

    static final StructLayout CLIENT_PARAMS = struct(
            "kv_client_params",
            u32("struct_size"),
            u32("protocols"),
            pointer("masters"),
            pointer("name"),
            u32("connect_timeout_ms"),
            u32("transfer_timeout_ms"),
            u32("ready_timeout_ms"),
            u32("queue_ops_max"),
            pointer("product"),
            u32("busy_wait_us"),
            u32("idle_timeout_ms"),
            pointer("tls_dir"),
            u32("tls_mode"),
            u32("payloads"));

    static final StructLayout OP = struct(
            "kv_op",
            pointer("key"),
            u32("key_length"),
            u32("status"),
            pointer("data"),
            u64("length"),
            u64("result_length"));

    static final StructLayout BATCH_OPTIONS = struct(
            "kv_batch_options",
            u32("struct_size"),
            u32("flags"),
            u32("timeout_ms"),
            u32("replicas"),
            pointer("nodes"),
            u32("pins"),
            u32("soft_pin_ms"),
            pointer("groups"),
            pointer("offsets"),
            pointer("objects"),
            u32("retain_ms"),
            u32("reserved"));

    static final StructLayout AGENT_PARAMS = struct(
            "kv_agent_params",
            u32("struct_size"),
            u32("protocols"),
            pointer("masters"),
            pointer("socket_path"),
            pointer("name"),
            pointer("product"),
            u64("staging_bytes"),
            u32("connect_timeout_ms"),
            u32("transfer_timeout_ms"),
            pointer("tls_dir"),
            u32("tls_mode"),
            u32("reserved"),
            pointer("abstract_socket"));

    static final StructLayout AGENT_STATS = struct(
            "kv_agent_stats",
            u32("struct_size"),
            u32("leader_known"),
            u64("epoch"),
            u64("clients"),
            u64("staging_bytes"),
            u64("staging_bytes_max"),
            u64("running"),
            u64("requests"),
            u64("lines"),
            u64("refused_clients"),
            u64("protocol_errors"),
            u64("put_bytes"),
            u64("get_bytes"),
            u64("hits"),
            u64("misses"),
            u64("retries"),
            u64("checksum_failures"),
            u64("leader_changes"),
            u64("shm_bytes"),
            u64("shm_refusals"));

    /** Every struct above, for the test that compares them with the header. */
    static final List<StructLayout> ALL =
            List.of(VERSIONS, NODE_PARAMS, NODE_STATS, CLIENT_PARAMS, OP, BATCH_OPTIONS, AGENT_PARAMS, AGENT_STATS);

    private Layouts() {}

    private static StructLayout struct(String name, MemoryLayout... fields) {
        return MemoryLayout.structLayout(fields).withName(name);
    }

    private static MemoryLayout u32(String name) {
        return JAVA_INT.withName(name);
    }

    private static MemoryLayout u64(String name) {
        return JAVA_LONG.withName(name);
    }

    private static MemoryLayout pointer(String name) {
        return JAVA_LONG.withName(name);
    }
}
