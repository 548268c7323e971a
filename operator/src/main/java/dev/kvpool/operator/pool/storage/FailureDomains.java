// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.operator.pool.observation.ObservedNode;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Which storage nodes fail together, so that masters keep the copies of an object apart: those of one zone where the pool
 * is in several, else those on one Kubernetes node.
 */
public final class FailureDomains {
    /** As long as the value of a label, which is what masters take. */
    private static final int LENGTH_MAX = 63;

    private static final int DIGEST_LENGTH = 8;

    private FailureDomains() {}

    /**
     * Names them. Pure.
     *
     * @param hosts the Kubernetes node that each storage node is on, by the storage node's id
     * @return the name of its failure domain, by the same id
     */
    public static Map<String, String> of(Map<String, ObservedNode> hosts) {
        Set<String> zones = new HashSet<>();
        hosts.values().forEach(host -> host.zone().ifPresent(zones::add));
        boolean severalZones = zones.size() > 1;
        Map<String, String> domains = new HashMap<>();
        hosts.forEach((id, host) -> {
            String itself = nameOf(host);
            domains.put(id, severalZones ? host.zone().orElse(itself) : itself);
        });
        return domains;
    }

    /** Names of nodes may be longer than a name of a domain. */
    private static String nameOf(ObservedNode host) {
        String name = host.name();
        if (name.length() <= LENGTH_MAX) {
            return name;
        }
        String digest = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8))
                .toString()
                .substring(0, DIGEST_LENGTH);
        return name.substring(0, LENGTH_MAX - DIGEST_LENGTH - 1) + "-" + digest;
    }
}
