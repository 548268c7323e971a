// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.Role;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Whether everybody this master sees knows the versions that its pool is to go over to. Pure. */
final class Finalising {
    private Finalising() {}

    /**
     * Looks for the first who does not.
     *
     * @param master this master's own versions
     * @param peers nodes and clients that are connected
     * @return why the pool cannot go over, with the way out; or nothing
     */
    static Optional<String> objection(
            ActiveVersions target,
            ActiveVersions active,
            Versions master,
            List<ConnectedPeer> peers,
            boolean ignoreClients) {
        if (active.exceeds(target)) {
            return Optional.of("the pool is at " + active + " already, and goes back to nothing lower");
        }
        Optional<String> own = unknown("this master", master, target, true);
        if (own.isPresent()) {
            return own.map(why -> why + "; upgrade it first");
        }
        for (ConnectedPeer peer : sorted(peers)) {
            boolean client = peer.role() == Role.CLIENT;
            Optional<String> why = client && ignoreClients
                    ? Optional.empty()
                    : unknown((client ? "client " : "node ") + peer.name(), peer.versions(), target, !client);
            if (why.isPresent()) {
                return why.map(it -> it + (client ? "; upgrade it first, or leave it behind" : "; upgrade it first"));
            }
        }
        return Optional.empty();
    }

    private static List<ConnectedPeer> sorted(List<ConnectedPeer> peers) {
        return peers.stream()
                .sorted(Comparator.comparing(ConnectedPeer::role).thenComparing(ConnectedPeer::name))
                .toList();
    }

    /** Clients read objects by tcp whatever the layout is, so only its wire version shuts one out. */
    private static Optional<String> unknown(String who, Versions versions, ActiveVersions target, boolean layoutToo) {
        if (!versions.wire().contains(target.wire())) {
            return Optional.of(sentence(who, versions, "speaks wire version", versions.wire(), target.wire()));
        }
        if (layoutToo && !versions.layout().contains(target.layout())) {
            return Optional.of(sentence(who, versions, "knows segment layout", versions.layout(), target.layout()));
        }
        return Optional.empty();
    }

    private static String sentence(String who, Versions versions, String verb, VersionRange range, int wanted) {
        return "%s (kvpool %s) %s %s, not %d".formatted(who, versions.product(), verb, range, wanted);
    }
}
