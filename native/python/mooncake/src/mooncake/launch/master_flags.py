# SPDX-License-Identifier: Apache-2.0
"""The flags of `mooncake_master`, names and defaults as in the reference (its master.cpp), and what becomes of each."""

from mooncake.configuration.ssd_tiers import SSD_REMEDY
from mooncake.launch.command_line import Flag, Treatment, port, ratio, switch, whole_number, word

_SUPPORTED, _IGNORED, _REFUSED = Treatment.SUPPORTED, Treatment.IGNORED, Treatment.REFUSED

_HIGHLY_AVAILABLE = "start several masters with `kvpool local --masters 2`, or let the operator run the pool"
_INDEX_FROM_NODES = "the index is rebuilt from what storage nodes and engines hold, so there is nothing to save"
_ONE_LOOP = "the master decides in one thread, and its connections have threads of their own"
_NO_TASKS = "copies are planned by the leader, within bounds of its own"
_LOG = "kvpool logs to standard error"
_EVENTS = (
    "run `kvpool-events-zmq --form mooncake` of the wheel kvpool-engines beside it: it publishes by ZMQ what masters serve at "
    "GET /api/v1/events"
)
_EVENT_SETTINGS = "events are published by kvpool-events-zmq, which has settings of its own"
_HOT = "the leader makes no copies of hot objects by itself: ask for them by replica_num or create_copy_task()"

FLAGS = (
    Flag("rpc_port", port, 0, _SUPPORTED, "Port of the master; 0 takes that of --port."),
    Flag("port", port, 50051, _SUPPORTED, "The older name of --rpc_port."),
    Flag("rpc_address", word, "0.0.0.0", _SUPPORTED, "Address to listen on."),
    Flag("metrics_port", port, 9003, _SUPPORTED, "Port of metrics and administration, by HTTP."),
    Flag("default_kv_lease_ttl", whole_number, 10000, _SUPPORTED, "Object lease in ms."),
    Flag("default_kv_soft_pin_ttl", whole_number, 1800000, _SUPPORTED, "Soft pin in ms."),
    Flag("allow_evict_soft_pinned_objects", switch, True, _SUPPORTED, "Softly pinned objects are evicted last."),
    Flag(
        "eviction_high_watermark_ratio", ratio, 0.9, _SUPPORTED, "Share of the memory in use at which eviction begins."
    ),
    Flag("eviction_ratio", ratio, 0.05, _SUPPORTED, "Share of the memory, in bytes, that one eviction frees."),
    Flag(
        "cluster_id",
        word,
        "mooncake_cluster",
        _SUPPORTED,
        "Names the pool. Engines keep what they hold when a master of the same name starts again.",
    ),
    Flag("config_path", word, "", _SUPPORTED, "File of these flags, JSON or lines `name: value`; flags go first."),
    Flag(
        "enable_http_metadata_server",
        switch,
        False,
        _SUPPORTED,
        "Serves `http://HOST:PORT/metadata`, where transfer engines may find each other; clients of the pool need none.",
    ),
    Flag("http_metadata_server_port", port, 8080, _SUPPORTED, "Port of that server."),
    Flag("http_metadata_server_host", word, "0.0.0.0", _SUPPORTED, "Address that it listens on."),
    Flag("rpc_thread_num", whole_number, 0, _IGNORED, _ONE_LOOP),
    Flag("max_threads", whole_number, 4, _IGNORED, _ONE_LOOP),
    Flag("rpc_conn_timeout_seconds", whole_number, 0, _IGNORED, "connections are watched by heartbeats"),
    Flag("rpc_enable_tcp_no_delay", switch, True, _IGNORED, "it is always on"),
    Flag("rpc_protocol", word, "tcp", _IGNORED, "clients talk to masters by tcp"),
    Flag("enable_metric_reporting", switch, True, _IGNORED, "metrics are always served on --metrics_port"),
    Flag("client_ttl", whole_number, 10, _IGNORED, "a client that goes away is noticed by its connection"),
    Flag("client_live_ttl_sec", whole_number, 10, _IGNORED, "a client that goes away is noticed by its connection"),
    Flag("memory_allocator", word, "offset", _IGNORED, "kvpool has one allocator, best fit"),
    Flag("allocation_strategy", word, "random", _IGNORED, "the freer of two random nodes is taken"),
    Flag("put_start_discard_timeout_sec", whole_number, 30, _IGNORED, "a put's grant ends with its deadline"),
    Flag("put_start_release_timeout_sec", whole_number, 600, _IGNORED, "a put's grant ends with its deadline"),
    Flag("enable_metadata_cleanup_on_timeout", switch, False, _IGNORED, "nothing of a dead client remains"),
    Flag("enable_gc", switch, False, _IGNORED, "there is nothing to collect"),
    Flag("enable_disk_eviction", switch, True, _IGNORED, SSD_REMEDY),
    Flag("global_file_segment_size", whole_number, 9223372036854775807, _IGNORED, SSD_REMEDY),
    Flag("quota_bytes", whole_number, 0, _IGNORED, SSD_REMEDY),
    Flag(
        "offload_on_evict",
        switch,
        False,
        _IGNORED,
        "what has to leave memory goes to the SSD where its storage node has one",
    ),
    Flag("offload_force_evict", switch, False, _IGNORED, SSD_REMEDY),
    Flag(
        "promotion_on_hit",
        switch,
        False,
        _IGNORED,
        "what is read from the SSD again and again comes back to memory by itself",
    ),
    Flag("dynamic_replication_mode", word, "off", _IGNORED, _HOT),
    Flag("dynamic_replication_heat_window_seconds", whole_number, 10, _IGNORED, _HOT),
    Flag("dynamic_replication_admission_qps_threshold", word, "0.8", _IGNORED, _HOT),
    Flag("dynamic_replication_max_memory_replicas", whole_number, 2, _IGNORED, _HOT),
    Flag("kv_events_bind_endpoint", word, "", _IGNORED, _EVENT_SETTINGS),
    Flag("kv_events_backend_id", word, "", _IGNORED, _EVENT_SETTINGS),
    Flag("kv_events_emit_legacy_compat", switch, False, _IGNORED, _EVENT_SETTINGS),
    Flag("kv_events_emit_object_key", switch, False, _IGNORED, _EVENT_SETTINGS),
    Flag("enable_snapshot", switch, False, _IGNORED, _INDEX_FROM_NODES),
    Flag("enable_snapshot_restore", switch, False, _IGNORED, _INDEX_FROM_NODES),
    Flag("snapshot_interval_seconds", whole_number, 600, _IGNORED, _INDEX_FROM_NODES),
    Flag("enable_oplog", switch, False, _IGNORED, _INDEX_FROM_NODES),
    Flag("max_total_finished_tasks", whole_number, 10000, _IGNORED, _NO_TASKS),
    Flag("max_total_pending_tasks", whole_number, 10000, _IGNORED, _NO_TASKS),
    Flag("max_total_processing_tasks", whole_number, 10000, _IGNORED, _NO_TASKS),
    Flag("pending_task_timeout_sec", whole_number, 300, _IGNORED, _NO_TASKS),
    Flag("processing_task_timeout_sec", whole_number, 300, _IGNORED, _NO_TASKS),
    Flag("logtostderr", switch, False, _IGNORED, _LOG),
    Flag("alsologtostderr", switch, False, _IGNORED, _LOG),
    Flag("minloglevel", whole_number, 0, _IGNORED, _LOG),
    Flag("stderrthreshold", whole_number, 2, _IGNORED, _LOG),
    Flag("log_dir", word, "", _IGNORED, _LOG),
    Flag("v", whole_number, 0, _IGNORED, _LOG),
    Flag("enable_ha", switch, False, _REFUSED, _HIGHLY_AVAILABLE),
    Flag("etcd_endpoints", word, "", _REFUSED, _HIGHLY_AVAILABLE),
    Flag("ha_backend_type", word, "etcd", _REFUSED, _HIGHLY_AVAILABLE),
    Flag("ha_backend_connstring", word, "", _REFUSED, _HIGHLY_AVAILABLE),
    Flag("enable_offload", switch, False, _REFUSED, SSD_REMEDY),
    Flag("root_fs_dir", word, "", _REFUSED, SSD_REMEDY),
    Flag("enable_multi_tenants", switch, False, _REFUSED, "tenants have certificates: kvpool master --tls-dir"),
    Flag("enable_kv_events", switch, False, _REFUSED, _EVENTS),
    Flag("enable_cxl", switch, False, _REFUSED, "kvpool serves memory of the machine and SSDs"),
    Flag("cxl_path", word, "/dev/dax0.0", _REFUSED, "kvpool serves memory of the machine and SSDs"),
    Flag("cxl_size", whole_number, 8589934592, _REFUSED, "kvpool serves memory of the machine and SSDs"),
)
