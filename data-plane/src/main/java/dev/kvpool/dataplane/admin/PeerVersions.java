// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.wire.Role;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** The versions of whoever is connected, in short: of each node, and of clients how many have which. */
final class PeerVersions {
    /** A roll asks whether any client is left behind; of more different builds than these the rarest are left out. */
    private static final int CLIENT_VERSIONS_MAX = 64;

    private final List<ConnectedPeer> peers;
    private final Map<String, Versions> nodes = new HashMap<>();

    private PeerVersions(List<ConnectedPeer> peers) {
        this.peers = peers;
        role(Role.NODE).forEach(peer -> nodes.putIfAbsent(peer.name(), peer.versions()));
    }

    /**
     * Clients of one build.
     *
     * @param example name of one of them
     */
    record Clients(Versions versions, int count, String example) {}

    static PeerVersions of(List<ConnectedPeer> peers) {
        return new PeerVersions(
                peers.stream().sorted(Comparator.comparing(ConnectedPeer::name)).toList());
    }

    Optional<Versions> ofNode(String id) {
        return Optional.ofNullable(nodes.get(id));
    }

    /** The most frequent build first. */
    List<Clients> ofClients() {
        Map<Versions, Clients> byVersions = new LinkedHashMap<>();
        role(Role.CLIENT)
                .forEach(peer -> byVersions.merge(
                        peer.versions(),
                        new Clients(peer.versions(), 1, peer.name()),
                        (known, one) -> new Clients(known.versions(), known.count() + 1, known.example())));
        return byVersions.values().stream()
                .sorted(Comparator.comparingInt(Clients::count).reversed())
                .limit(CLIENT_VERSIONS_MAX)
                .toList();
    }

    private Stream<ConnectedPeer> role(Role role) {
        return peers.stream().filter(peer -> peer.role() == role);
    }
}
