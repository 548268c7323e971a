// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import dev.kvpool.dataplane.metrics.SampledMetrics;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.nativelib.AgentStats;

/** The agent's numbers for Prometheus. */
final class AgentMetrics extends SampledMetrics<AgentStats> {
    AgentMetrics(PoolSecurity security) {
        super(security);
        gauge("kvpool.agent.up", "1 while the agent serves its socket.", stats -> 1);
        gauge("kvpool.agent.leader.known", "1 while a leader is known.", stats -> stats.leaderKnown() ? 1 : 0);
        gauge("kvpool.agent.epoch", "Epoch of the last known leader.", AgentStats::epoch);
        gauge("kvpool.agent.clients.connected", "Clients connected.", AgentStats::clients);
        gauge("kvpool.agent.staging.bytes", "Memory shared with clients.", AgentStats::stagingBytes);
        gauge(
                "kvpool.agent.staging.max.bytes",
                "Upper limit of kvpool_agent_staging_bytes.",
                AgentStats::stagingBytesMax);
        gauge("kvpool.agent.requests.running", "Requests in progress.", AgentStats::running);
        counter("kvpool.agent.requests", "Requests received.", AgentStats::requests);
        counter("kvpool.agent.lines", "Keys in requests.", AgentStats::lines);
        counter("kvpool.agent.clients.refused", "Clients refused.", AgentStats::refusedClients);
        counter(
                "kvpool.agent.protocol.errors",
                "Connections closed because of malformed bytes.",
                AgentStats::protocolErrors);
        counter("kvpool.agent.put.bytes", "Payload bytes put.", AgentStats::putBytes);
        counter("kvpool.agent.get.bytes", "Payload bytes read.", AgentStats::getBytes);
        counter(
                "kvpool.agent.shm.bytes",
                "Payload bytes read or put through memory shared with storage nodes.",
                AgentStats::shmBytes);
        counter(
                "kvpool.agent.shm.refusals",
                "Failed attempts to share memory with a storage node on this machine; the log says why.",
                AgentStats::shmRefusals);
        counter("kvpool.agent.hits", "Reads that found their object.", AgentStats::hits);
        counter("kvpool.agent.misses", "Reads that did not find their object.", AgentStats::misses);
        counter("kvpool.agent.retries", "Retried steps.", AgentStats::retries);
        counter("kvpool.agent.checksum.failures", "Payloads with a wrong checksum.", AgentStats::checksumFailures);
        counter("kvpool.agent.leader.changes", "Changes of leader.", AgentStats::leaderChanges);
    }
}
