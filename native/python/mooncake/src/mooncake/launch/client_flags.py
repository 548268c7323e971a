# SPDX-License-Identifier: Apache-2.0
"""The flags of `mooncake_client`, names and defaults as in the reference (its real_client_main.cpp), and what becomes of each."""

from mooncake.configuration.sizes import parse_size
from mooncake.configuration.ssd_tiers import SSD_REMEDY
from mooncake.launch.command_line import Flag, Treatment, port, switch, whole_number, word

_SUPPORTED, _IGNORED, _REFUSED = Treatment.SUPPORTED, Treatment.IGNORED, Treatment.REFUSED


FLAGS = (
    Flag("host", word, "0.0.0.0", _SUPPORTED, "Address that other clients reach this machine by."),
    Flag("master_server_address", word, "127.0.0.1:50051", _SUPPORTED, "All masters, HOST:PORT[,HOST:PORT...]."),
    Flag("global_segment_size", parse_size, 4 << 30, _SUPPORTED, "Memory that this process adds to the pool; 0: none."),
    Flag("port", port, 50052, _SUPPORTED, "Names the service to clients on this machine that use setup_dummy()."),
    Flag(
        "protocol",
        word,
        "tcp",
        _SUPPORTED,
        "How other machines reach the memory: tcp. Any other is refused, unless KVPOOL_PROTOCOL_OVERRIDE=tcp is set.",
    ),
    Flag("metadata_server", word, "http://127.0.0.1:8080/metadata", _IGNORED, "kvpool needs no metadata server"),
    Flag("device_names", word, "", _IGNORED, "tcp takes the machine's routes"),
    Flag("threads", whole_number, 1, _IGNORED, "clients on this machine are served by threads of libkvpool"),
    Flag("http_port", port, 9300, _SUPPORTED, "Port of /health, /metrics and /metrics/summary, by HTTP; 0: any."),
    Flag("logtostderr", switch, False, _IGNORED, "kvpool logs to standard error"),
    Flag("v", whole_number, 0, _IGNORED, "kvpool logs to standard error"),
    Flag("enable_offload", switch, False, _REFUSED, SSD_REMEDY),
    Flag("enable_ssd_offload", switch, False, _REFUSED, SSD_REMEDY),
    Flag("tenant_id", word, "default", _REFUSED, "clients of an agent are of tenant default; others have certificates"),
)
