/* SPDX-License-Identifier: Apache-2.0 */
/* Prints every layout and constant of the public headers as NAME=VALUE lines, for the tests of the bindings to compare
 * with. */
#include <stddef.h>
#include <stdio.h>

#include "kvpool/agent.h"

#define SIZE(type) printf("sizeof.%s=%zu\n", #type, sizeof(type))
#define FIELD(type, field)                                                                              \
  printf("offsetof.%s.%s=%zu\nsizeof.%s.%s=%zu\n", #type, #field, offsetof(type, field), #type, #field, \
         sizeof(((type*)0)->field))
#define VALUE(name) printf("value.%s=%ld\n", #name, (long)(name))

static void dump_statuses(void) {
  VALUE(KV_OK);
  VALUE(KV_NOT_FOUND);
  VALUE(KV_EXISTS);
  VALUE(KV_BUSY);
  VALUE(KV_HAS_LEASE);
  VALUE(KV_LEASE_EXPIRED);
  VALUE(KV_UNAVAILABLE);
  VALUE(KV_INVALID_KEY);
  VALUE(KV_TOO_LARGE);
  VALUE(KV_CHECKSUM);
  VALUE(KV_BUFFER_TOO_SMALL);
  VALUE(KV_INVALID_ARGUMENT);
  VALUE(KV_NOT_REGISTERED);
  VALUE(KV_TIMEOUT);
  VALUE(KV_CLOSED);
  VALUE(KV_QUEUE_FULL);
  VALUE(KV_TOO_OLD);
  VALUE(KV_NO_SPACE);
  VALUE(KV_QUOTA_EXCEEDED);
  VALUE(KV_CONNECT_FAILED);
  VALUE(KV_TRANSFER_FAILED);
  VALUE(KV_PROTOCOL);
  VALUE(KV_IDENTITY_MISMATCH);
  VALUE(KV_VERSION_MISMATCH);
  VALUE(KV_NOT_PERMITTED);
  VALUE(KV_NOT_LEADER);
  VALUE(KV_RECOVERING);
  VALUE(KV_STALE_EPOCH);
  VALUE(KV_NOT_FENCED);
  VALUE(KV_SEGMENT_IN_USE);
  VALUE(KV_SEGMENT_FOREIGN);
  VALUE(KV_SEGMENT_LAYOUT);
  VALUE(KV_OUT_OF_MEMORY);
  VALUE(KV_IO);
  VALUE(KV_INTERNAL);
}

static void dump_constants(void) {
  VALUE(KV_KEY_BYTES_MAX);
  VALUE(KV_SEGMENT_BYTES_MIN);
  VALUE(KV_SEGMENT_BYTES_MAX);
  VALUE(KV_NODE_STAGING_BYTES);
  VALUE(KV_BATCH_MAX);
  VALUE(KV_PROTOCOL_TCP);
  VALUE(KV_PROTOCOL_SHM);
  VALUE(KV_PROTOCOL_UCX);
  VALUE(KV_PROTOCOL_ASCEND);
  VALUE(KV_NODE_NO_PREFAULT);
  VALUE(KV_NODE_LOCK_MEMORY);
  VALUE(KV_NODE_TRUSTED_FABRIC);
  VALUE(KV_OP_PUT);
  VALUE(KV_OP_GET);
  VALUE(KV_OP_EXISTS);
  VALUE(KV_OP_REMOVE);
  VALUE(KV_BATCH_FORCE);
}

static void dump_versions(void) {
  SIZE(kv_versions);
  FIELD(kv_versions, struct_size);
  FIELD(kv_versions, wire_min);
  FIELD(kv_versions, wire_max);
  FIELD(kv_versions, layout_min);
  FIELD(kv_versions, layout_max);
  FIELD(kv_versions, abi_min);
  FIELD(kv_versions, abi_max);
  FIELD(kv_versions, reserved);
}

static void dump_node_params(void) {
  SIZE(kv_node_params);
  FIELD(kv_node_params, struct_size);
  FIELD(kv_node_params, flags);
  FIELD(kv_node_params, pool_id);
  FIELD(kv_node_params, node_id);
  FIELD(kv_node_params, masters);
  FIELD(kv_node_params, listen_host);
  FIELD(kv_node_params, advertise_host);
  FIELD(kv_node_params, data_dir);
  FIELD(kv_node_params, segment_bytes);
  FIELD(kv_node_params, listen_port);
  FIELD(kv_node_params, protocols);
  FIELD(kv_node_params, connect_timeout_ms);
  FIELD(kv_node_params, transfer_timeout_ms);
  FIELD(kv_node_params, product);
  FIELD(kv_node_params, zone);
  FIELD(kv_node_params, scrub_bytes_per_second);
  FIELD(kv_node_params, numa);
  FIELD(kv_node_params, ssd_path);
  FIELD(kv_node_params, ssd_bytes);
  FIELD(kv_node_params, socket_dir);
  FIELD(kv_node_params, idle_timeout_ms);
  FIELD(kv_node_params, reserved);
  FIELD(kv_node_params, staging_bytes);
  FIELD(kv_node_params, memory_path);
  FIELD(kv_node_params, memory_offset);
  FIELD(kv_node_params, ssd_key_file);
  FIELD(kv_node_params, tls_dir);
  FIELD(kv_node_params, tls_mode);
  FIELD(kv_node_params, payloads);
}

static void dump_node_stats(void) {
  SIZE(kv_node_stats);
  FIELD(kv_node_stats, struct_size);
  FIELD(kv_node_stats, listen_port);
  FIELD(kv_node_stats, incarnation);
  FIELD(kv_node_stats, capacity_bytes);
  FIELD(kv_node_stats, used_bytes);
  FIELD(kv_node_stats, objects);
  FIELD(kv_node_stats, epoch);
  FIELD(kv_node_stats, masters_connected);
  FIELD(kv_node_stats, masters_total);
  FIELD(kv_node_stats, clients_connected);
  FIELD(kv_node_stats, fenced);
  FIELD(kv_node_stats, restored_objects);
  FIELD(kv_node_stats, dropped_records);
  FIELD(kv_node_stats, writes);
  FIELD(kv_node_stats, write_bytes);
  FIELD(kv_node_stats, write_failures);
  FIELD(kv_node_stats, reads);
  FIELD(kv_node_stats, read_bytes);
  FIELD(kv_node_stats, read_misses);
  FIELD(kv_node_stats, checksum_failures);
  FIELD(kv_node_stats, stale_refusals);
  FIELD(kv_node_stats, protocol_errors);
  FIELD(kv_node_stats, damaged_objects);
  FIELD(kv_node_stats, scrub_rounds);
  FIELD(kv_node_stats, scrubbed_bytes);
  FIELD(kv_node_stats, copies_in);
  FIELD(kv_node_stats, copies_in_bytes);
  FIELD(kv_node_stats, tombstones);
  FIELD(kv_node_stats, ids_hash);
  FIELD(kv_node_stats, restored_ids_hash);
  FIELD(kv_node_stats, prefault_bytes);
  FIELD(kv_node_stats, prefaulted_bytes);
  FIELD(kv_node_stats, page_bytes);
  FIELD(kv_node_stats, protocols);
  FIELD(kv_node_stats, ucx_clients);
  FIELD(kv_node_stats, ucx_refusals);
  FIELD(kv_node_stats, ucx_write_bytes);
  FIELD(kv_node_stats, ucx_read_bytes);
  FIELD(kv_node_stats, ssd_capacity_bytes);
  FIELD(kv_node_stats, ssd_used_bytes);
  FIELD(kv_node_stats, ssd_objects);
  FIELD(kv_node_stats, ssd_writes);
  FIELD(kv_node_stats, ssd_write_bytes);
  FIELD(kv_node_stats, ssd_reads);
  FIELD(kv_node_stats, ssd_off);
  FIELD(kv_node_stats, damaged_files_set_aside);
  FIELD(kv_node_stats, foreign_files_set_aside);
  FIELD(kv_node_stats, set_aside_bytes);
  FIELD(kv_node_stats, replaced_layout);
  FIELD(kv_node_stats, ascend_clients);
  FIELD(kv_node_stats, ascend_refusals);
  FIELD(kv_node_stats, ascend_write_bytes);
  FIELD(kv_node_stats, ascend_read_bytes);
  FIELD(kv_node_stats, ascend_transfers);
  FIELD(kv_node_stats, ascend_transfer_failures);
  FIELD(kv_node_stats, ascend_transfer_us);
  FIELD(kv_node_stats, tls_handshakes);
  FIELD(kv_node_stats, tls_handshake_failures);
  FIELD(kv_node_stats, tls_plain_refusals);
  FIELD(kv_node_stats, auth_refusals);
  FIELD(kv_node_stats, grant_refusals);
  FIELD(kv_node_stats, tls_not_after_ms);
  FIELD(kv_node_stats, ascend_transfer_timeouts);
  FIELD(kv_node_stats, ascend_retries);
  FIELD(kv_node_stats, ascend_connects);
  FIELD(kv_node_stats, ascend_renewals);
  FIELD(kv_node_stats, ascend_disconnects);
  FIELD(kv_node_stats, ascend_room_made);
  FIELD(kv_node_stats, ascend_channels);
  FIELD(kv_node_stats, ascend_channels_kept);
  FIELD(kv_node_stats, ascend_channels_max);
  FIELD(kv_node_stats, ascend_transfers_in_100us);
  FIELD(kv_node_stats, ascend_transfers_in_1ms);
  FIELD(kv_node_stats, ascend_transfers_in_10ms);
  FIELD(kv_node_stats, ascend_transfers_in_100ms);
  FIELD(kv_node_stats, ascend_transfers_in_1s);
  FIELD(kv_node_stats, ascend_transfers_longer);
  FIELD(kv_node_stats, ascend_connect_us);
  FIELD(kv_node_stats, ascend_connects_in_100us);
  FIELD(kv_node_stats, ascend_connects_in_1ms);
  FIELD(kv_node_stats, ascend_connects_in_10ms);
  FIELD(kv_node_stats, ascend_connects_in_100ms);
  FIELD(kv_node_stats, ascend_connects_in_1s);
  FIELD(kv_node_stats, ascend_connects_longer);
  FIELD(kv_node_stats, ssd_read_bytes);
  FIELD(kv_node_stats, ssd_read_us);
  FIELD(kv_node_stats, ssd_reads_in_100us);
  FIELD(kv_node_stats, ssd_reads_in_1ms);
  FIELD(kv_node_stats, ssd_reads_in_10ms);
  FIELD(kv_node_stats, ssd_reads_in_100ms);
  FIELD(kv_node_stats, ssd_reads_in_1s);
  FIELD(kv_node_stats, ssd_reads_longer);
  FIELD(kv_node_stats, ssd_write_us);
  FIELD(kv_node_stats, ssd_writes_in_100us);
  FIELD(kv_node_stats, ssd_writes_in_1ms);
  FIELD(kv_node_stats, ssd_writes_in_10ms);
  FIELD(kv_node_stats, ssd_writes_in_100ms);
  FIELD(kv_node_stats, ssd_writes_in_1s);
  FIELD(kv_node_stats, ssd_writes_longer);
}

static void dump_client_params(void) {
  SIZE(kv_client_params);
  FIELD(kv_client_params, struct_size);
  FIELD(kv_client_params, protocols);
  FIELD(kv_client_params, masters);
  FIELD(kv_client_params, name);
  FIELD(kv_client_params, connect_timeout_ms);
  FIELD(kv_client_params, transfer_timeout_ms);
  FIELD(kv_client_params, ready_timeout_ms);
  FIELD(kv_client_params, queue_ops_max);
  FIELD(kv_client_params, product);
  FIELD(kv_client_params, busy_wait_us);
  FIELD(kv_client_params, idle_timeout_ms);
  FIELD(kv_client_params, tls_dir);
  FIELD(kv_client_params, tls_mode);
  FIELD(kv_client_params, payloads);
}

static void dump_batches(void) {
  SIZE(kv_op);
  FIELD(kv_op, key);
  FIELD(kv_op, key_length);
  FIELD(kv_op, status);
  FIELD(kv_op, data);
  FIELD(kv_op, length);
  FIELD(kv_op, result_length);
  SIZE(kv_batch_options);
  FIELD(kv_batch_options, struct_size);
  FIELD(kv_batch_options, flags);
  FIELD(kv_batch_options, timeout_ms);
  FIELD(kv_batch_options, replicas);
  FIELD(kv_batch_options, nodes);
  FIELD(kv_batch_options, pins);
  FIELD(kv_batch_options, soft_pin_ms);
  FIELD(kv_batch_options, groups);
  FIELD(kv_batch_options, offsets);
  FIELD(kv_batch_options, objects);
  FIELD(kv_batch_options, retain_ms);
  FIELD(kv_batch_options, reserved);
}

static void dump_agent(void) {
  VALUE(KV_AGENT_STAGING_BYTES);
  VALUE(KV_AGENT_CLIENTS_MAX);
  SIZE(kv_agent_params);
  FIELD(kv_agent_params, struct_size);
  FIELD(kv_agent_params, protocols);
  FIELD(kv_agent_params, masters);
  FIELD(kv_agent_params, socket_path);
  FIELD(kv_agent_params, name);
  FIELD(kv_agent_params, product);
  FIELD(kv_agent_params, staging_bytes);
  FIELD(kv_agent_params, connect_timeout_ms);
  FIELD(kv_agent_params, transfer_timeout_ms);
  FIELD(kv_agent_params, tls_dir);
  FIELD(kv_agent_params, tls_mode);
  FIELD(kv_agent_params, reserved);
  FIELD(kv_agent_params, abstract_socket);
  SIZE(kv_agent_stats);
  FIELD(kv_agent_stats, struct_size);
  FIELD(kv_agent_stats, leader_known);
  FIELD(kv_agent_stats, epoch);
  FIELD(kv_agent_stats, clients);
  FIELD(kv_agent_stats, staging_bytes);
  FIELD(kv_agent_stats, staging_bytes_max);
  FIELD(kv_agent_stats, running);
  FIELD(kv_agent_stats, requests);
  FIELD(kv_agent_stats, lines);
  FIELD(kv_agent_stats, refused_clients);
  FIELD(kv_agent_stats, protocol_errors);
  FIELD(kv_agent_stats, put_bytes);
  FIELD(kv_agent_stats, get_bytes);
  FIELD(kv_agent_stats, hits);
  FIELD(kv_agent_stats, misses);
  FIELD(kv_agent_stats, retries);
  FIELD(kv_agent_stats, checksum_failures);
  FIELD(kv_agent_stats, leader_changes);
  FIELD(kv_agent_stats, shm_bytes);
  FIELD(kv_agent_stats, shm_refusals);
}

int main(void) {
  dump_statuses();
  dump_constants();
  dump_versions();
  dump_node_params();
  dump_node_stats();
  dump_client_params();
  dump_batches();
  dump_agent();
  return 0;
}
