// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClientsTest {
    private final Clients clients = new Clients();

    private void connect(long session, String process) {
        assertThat(clients.connect(session, process, Optional.empty(), 0)).isEmpty();
    }

    @Test
    void whatAClientAskedByAConnectionThatItGaveUpIsLate() {
        connect(1, "engine");
        connect(2, "other");
        assertThat(clients.isLate(1, 41)).isFalse();
        connect(3, "engine");
        assertThat(clients.isLate(1, 42)).isFalse();
        assertThat(clients.isLate(3, 46)).isFalse();

        assertThat(clients.isLate(1, 44)).isTrue();
        assertThat(clients.isLate(1, 44)).as("however often").isTrue();
        assertThat(clients.isLate(2, 44)).as("of another client").isFalse();
        assertThat(clients.isLate(3, 45)).as("by the later connection").isFalse();
        assertThat(clients.isLate(1, 47)).as("asked later").isFalse();
    }

    @Test
    void whatIsKnownOfAClientEndsWithItsLastConnection() {
        connect(1, "engine");
        connect(2, "engine");
        assertThat(clients.isLate(2, 9)).isFalse();
        assertThat(clients.disconnect(2)).isTrue();
        assertThat(clients.isLate(1, 8)).as("it is the only one now").isTrue();
        assertThat(clients.disconnect(1)).isTrue();
        connect(3, "engine");
        assertThat(clients.isLate(3, 1)).isFalse();
    }

    @Test
    void ofClientsThatDoNotSayWhoTheyAreNothingIsLate() {
        connect(1, "");
        connect(2, "");
        assertThat(clients.isLate(2, 9)).isFalse();
        assertThat(clients.isLate(1, 8)).isFalse();
    }
}
