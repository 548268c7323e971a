// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.util.List;

/**
 * The structs of kvpool.h, agent.h and engine.h, field for field: u32 for 32-bit fields, u64 for 64-bit fields and pointers. AbiTest compares
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
            u32("reserved"));

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
            u64("replaced_layout"));

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
            u32("idle_timeout_ms"));

    static final StructLayout PIECE = struct("kv_piece", pointer("data"), u64("length"));

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
            pointer("preferred_node"),
            u32("pins"),
            u32("soft_pin_ms"),
            pointer("groups"));

    static final StructLayout CLIENT_STATS = struct(
            "kv_client_stats",
            u32("struct_size"),
            u32("leader_known"),
            u64("epoch"),
            u64("puts"),
            u64("gets"),
            u64("hits"),
            u64("misses"),
            u64("put_bytes"),
            u64("get_bytes"),
            u64("shm_bytes"),
            u64("retries"),
            u64("checksum_failures"),
            u64("leader_changes"),
            u64("ucx_bytes"),
            u64("ucx_lanes"),
            u64("ucx_refusals"),
            u64("shm_refusals"),
            u64("put_batch_us"),
            u64("put_batches_in_100us"),
            u64("put_batches_in_1ms"),
            u64("put_batches_in_10ms"),
            u64("put_batches_in_100ms"),
            u64("put_batches_in_1s"),
            u64("put_batches_longer"),
            u64("get_batch_us"),
            u64("get_batches_in_100us"),
            u64("get_batches_in_1ms"),
            u64("get_batches_in_10ms"),
            u64("get_batches_in_100ms"),
            u64("get_batches_in_1s"),
            u64("get_batches_longer"));

    static final StructLayout ENGINE_PARAMS = struct(
            "kv_engine_params",
            u32("struct_size"),
            u32("port_min"),
            u32("port_max"),
            u32("connect_timeout_ms"),
            u32("transfer_timeout_ms"),
            u32("idle_timeout_ms"),
            u32("queue_lines_max"),
            u32("busy_wait_us"),
            pointer("metadata"),
            pointer("protocols"),
            pointer("name"),
            pointer("listen_host"),
            pointer("product"));

    static final StructLayout REGION = struct("kv_region", u64("address"), u64("length"));

    static final StructLayout TRANSFER = struct(
            "kv_transfer",
            pointer("peer"),
            pointer("local"),
            u64("remote"),
            u64("length"),
            u32("status"),
            u32("reserved"));

    static final StructLayout TRANSFER_OPTIONS = struct(
            "kv_transfer_options",
            u32("struct_size"),
            u32("timeout_ms"),
            pointer("notify_name"),
            pointer("notify_message"),
            u32("notify_length"),
            u32("reserved"));

    static final StructLayout ENGINE_STATS = struct(
            "kv_engine_stats",
            u32("struct_size"),
            u32("listen_port"),
            u64("incarnation"),
            u64("regions"),
            u64("region_bytes"),
            u64("peers_connected"),
            u64("clients_connected"),
            u64("batches"),
            u64("write_bytes"),
            u64("read_bytes"),
            u64("failed_lines"),
            u64("timed_out_lines"),
            u64("retries"),
            u64("peer_restarts"),
            u64("served_writes"),
            u64("served_write_bytes"),
            u64("served_reads"),
            u64("served_read_bytes"),
            u64("refused_requests"),
            u64("checksum_failures"),
            u64("protocol_errors"),
            u64("notifies_sent"),
            u64("notifies_received"),
            u64("batch_us"),
            u64("batches_in_100us"),
            u64("batches_in_1ms"),
            u64("batches_in_10ms"),
            u64("batches_in_100ms"),
            u64("batches_in_1s"),
            u64("batches_longer"));

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
            u32("transfer_timeout_ms"));

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

    static final StructLayout ATTACH_PARAMS = struct(
            "kv_attach_params",
            u32("struct_size"),
            u32("ready_timeout_ms"),
            pointer("socket_path"),
            pointer("name"),
            pointer("product"),
            u64("staging_bytes"),
            u32("queue_ops_max"),
            u32("reserved"));

    /** Every struct above, for the test that compares them with the header. */
    static final List<StructLayout> ALL = List.of(
            VERSIONS,
            NODE_PARAMS,
            NODE_STATS,
            CLIENT_PARAMS,
            PIECE,
            OP,
            BATCH_OPTIONS,
            CLIENT_STATS,
            ENGINE_PARAMS,
            REGION,
            TRANSFER,
            TRANSFER_OPTIONS,
            ENGINE_STATS,
            AGENT_PARAMS,
            AGENT_STATS,
            ATTACH_PARAMS);

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
