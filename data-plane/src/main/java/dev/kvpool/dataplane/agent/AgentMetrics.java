// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import static dev.kvpool.nativelib.NativeStats.agent;

import dev.kvpool.dataplane.metrics.SampledMetrics;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.nativelib.NativeStats;

/** The agent's numbers for Prometheus. */
final class AgentMetrics extends SampledMetrics<NativeStats> {
    AgentMetrics(PoolSecurity security) {
        super(security);
        gauge("kvpool.agent.up", "1 while the agent serves its socket.", stats -> 1);
        gauge("kvpool.agent.leader.known", "1 while a leader is known.", agent("leader_known"));
        gauge("kvpool.agent.epoch", "Epoch of the last known leader.", agent("epoch"));
        gauge("kvpool.agent.clients.connected", "Clients connected.", agent("clients"));
        gauge("kvpool.agent.staging.bytes", "Memory shared with clients.", agent("staging_bytes"));
        gauge(
                "kvpool.agent.staging.max.bytes",
                "Upper limit of kvpool_agent_staging_bytes.",
                agent("staging_bytes_max"));
        gauge("kvpool.agent.requests.running", "Requests in progress.", agent("running"));
        counter("kvpool.agent.requests", "Requests received.", agent("requests"));
        counter("kvpool.agent.lines", "Keys in requests.", agent("lines"));
        counter("kvpool.agent.clients.refused", "Clients refused.", agent("refused_clients"));
        counter(
                "kvpool.agent.protocol.errors",
                "Connections closed because of malformed bytes.",
                agent("protocol_errors"));
        counter("kvpool.agent.put.bytes", "Payload bytes put.", agent("put_bytes"));
        counter("kvpool.agent.get.bytes", "Payload bytes read.", agent("get_bytes"));
        counter(
                "kvpool.agent.shm.bytes",
                "Payload bytes read or put through memory shared with storage nodes.",
                agent("shm_bytes"));
        counter(
                "kvpool.agent.shm.refusals",
                "Failed attempts to share memory with a storage node on this machine; the log says why.",
                agent("shm_refusals"));
        counter("kvpool.agent.hits", "Reads that found their object.", agent("hits"));
        counter("kvpool.agent.misses", "Reads that did not find their object.", agent("misses"));
        counter("kvpool.agent.retries", "Retried steps.", agent("retries"));
        counter("kvpool.agent.checksum.failures", "Payloads with a wrong checksum.", agent("checksum_failures"));
        counter("kvpool.agent.leader.changes", "Changes of leader.", agent("leader_changes"));
    }
}
