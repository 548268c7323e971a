// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.Role;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A pool goes over to what everybody in it knows, and to nothing else. */
class FinalisingTest {
    private static final ActiveVersions FIRST = new ActiveVersions(1, 1);
    private static final ActiveVersions SECOND = new ActiveVersions(2, 2);

    @Test
    void everybodyKnowsIt() {
        assertThat(objection(SECOND, FIRST, 2, 2, false, peer(Role.NODE, "a", 2, 2), peer(Role.CLIENT, "c", 2, 2)))
                .isEmpty();
        assertThat(objection(SECOND, SECOND, 2, 2, false)).as("again").isEmpty();
    }

    @Test
    void whoDoesNotIsNamedWithTheRemedy() {
        assertThat(objection(SECOND, FIRST, 1, 2, false))
                .hasValue("this master (kvpool 0.1.0) speaks wire version 1, not 2; upgrade it first");
        assertThat(objection(SECOND, FIRST, 2, 2, false, peer(Role.NODE, "b", 2, 1), peer(Role.NODE, "a", 2, 2)))
                .hasValue("node b (kvpool 0.1.0) knows segment layout 1, not 2; upgrade it first");
        assertThat(objection(new ActiveVersions(3, 2), FIRST, 3, 2, false, peer(Role.NODE, "a", 2, 2)))
                .hasValue("node a (kvpool 0.1.0) speaks wire version 1-2, not 3; upgrade it first");
    }

    @Test
    void clientsCountByTheirWireVersionUnlessTheyMayBeLeftBehind() {
        ConnectedPeer old = peer(Role.CLIENT, "engine", 1, 1);
        assertThat(objection(SECOND, FIRST, 2, 2, false, old))
                .hasValue(
                        "client engine (kvpool 0.1.0) speaks wire version 1, not 2; upgrade it first, or leave it behind");
        assertThat(objection(SECOND, FIRST, 2, 2, true, old)).isEmpty();
        assertThat(objection(SECOND, FIRST, 2, 2, false, peer(Role.CLIENT, "engine", 2, 1)))
                .isEmpty();
    }

    @Test
    void nothingGoesBack() {
        assertThat(objection(FIRST, SECOND, 2, 2, true))
                .hasValue("the pool is at wire 2, segment layout 2 already, and goes back to nothing lower");
        assertThat(objection(new ActiveVersions(2, 1), SECOND, 2, 2, true)).isPresent();
    }

    private static Optional<String> objection(
            ActiveVersions target,
            ActiveVersions active,
            int wire,
            int layout,
            boolean ignore,
            ConnectedPeer... peers) {
        return Finalising.objection(target, active, knowing(wire, layout), List.of(peers), ignore);
    }

    private static ConnectedPeer peer(Role role, String name, int wire, int layout) {
        return new ConnectedPeer(role, name, knowing(wire, layout));
    }

    private static Versions knowing(int wire, int layout) {
        return new Versions("0.1.0", new VersionRange(1, wire), new VersionRange(1, layout), new VersionRange(1, 1));
    }
}
