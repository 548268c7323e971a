// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.enrol.EnrolmentSettings;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsPlace;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Everything a master is told at its start; made once, never changed. Rules of the cache may change later on by their file.
 *
 * @param poolId of the pool it belongs to
 * @param name of this master, such as its pod's
 * @param host to listen on
 * @param port for nodes and clients; 0 = any free one
 * @param adminPort for HTTP; 0 = any free one
 * @param secureAdminPort for HTTPS, where TLS is on; 0 = any free one
 * @param lease where the leadership Lease is kept
 * @param expectedNodes ids of the nodes that should be there, when no file says it
 * @param expectedNodesFile a file with one id per line, read again when it changes
 * @param cache the rules of the cache, as far as no file says others
 * @param cacheRulesFile a file with some of them, which need not be there, read again when it changes
 * @param changesCacheRules whether admins may have the leader write to that file, which all masters read
 * @param evictionLog where evictions are written down, if they are
 * @param warmUp the longest time to practise at the start; nothing = not at all
 * @param tls whether connections are encrypted, and by which certificates
 * @param auditLog whether changes, certificates and refusals are written to the log
 * @param enrolment by what this master gives certificates; empty when it gives none
 */
public record MasterConfig(
        UUID poolId,
        String name,
        String host,
        int port,
        int adminPort,
        int secureAdminPort,
        LeasePlace lease,
        Set<String> expectedNodes,
        Optional<Path> expectedNodesFile,
        CacheRules cache,
        Optional<Path> cacheRulesFile,
        boolean changesCacheRules,
        Optional<EvictionLog.Place> evictionLog,
        ElectionTimes times,
        Duration warmUp,
        TlsPlace tls,
        boolean auditLog,
        Optional<EnrolmentSettings.Place> enrolment) {
    /** Checks the whole configuration and reports everything that is wrong with it at once. */
    public MasterConfig {
        expectedNodes = Set.copyOf(expectedNodes);
        List<String> problems = new ArrayList<>();
        if (poolId.equals(new UUID(0, 0))) {
            problems.add("the pool id must not be all zero");
        }
        if (name.isBlank() || name.length() > 253) {
            problems.add("the name must have 1 to 253 characters");
        }
        for (int each : new int[] {port, adminPort, secureAdminPort}) {
            if (each < 0 || each > 65_535) {
                problems.add("ports must be 0 to 65535, not " + each);
            }
        }
        if (port != 0 && port == adminPort) {
            problems.add("port and admin port must differ, both are " + port);
        }
        if (changesCacheRules && cacheRulesFile.isEmpty()) {
            problems.add("there is no file of cache rules that could be changed; name one with --cache-rules-file");
        }
        if (tls.mode() != TlsMode.OFF && tls.directory().isEmpty() && enrolment.isEmpty()) {
            problems.add("TLS needs a directory of certificates, or a CA");
        }
        if (!problems.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", problems));
        }
    }
}
