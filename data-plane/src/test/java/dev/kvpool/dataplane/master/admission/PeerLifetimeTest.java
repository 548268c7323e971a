// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.Principal;
import dev.kvpool.wire.Role;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** How long a connection lasts, by the certificate of its peer. */
class PeerLifetimeTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final long END_MS = Duration.ofHours(24).toMillis();
    private static final Credentials OWN = FakeAuthentication.credentials(Instant.ofEpochMilli(3 * END_MS));

    private final EmbeddedChannel connection = new EmbeddedChannel();
    private final List<String> ends = new ArrayList<>();
    private long nowMs;
    private boolean trusted = true;
    private int looks;

    private PeerAdmission node(String name) {
        FakeAuthentication authentication =
                new FakeAuthentication(new Principal(PeerName.ofPath(POOL, name), END_MS), OWN) {
                    @Override
                    public boolean isTrusted() {
                        looks++;
                        return trusted;
                    }
                };
        return new PeerAdmission(authentication, new TlsCounts());
    }

    private void watch(PeerAdmission admission) {
        watch(admission, true);
    }

    private void watch(PeerAdmission admission, boolean proves) {
        connection.freezeTime();
        assertThat(admission.objection(PeerSocket.hello(Role.NODE, POOL, "a", 1), _ -> true))
                .isEmpty();
        PeerLifetime.watch(connection, admission, proves, () -> Instant.ofEpochMilli(nowMs), ends::add);
    }

    private void pass(long milliseconds) {
        nowMs += milliseconds;
        connection.advanceTimeBy(milliseconds, TimeUnit.MILLISECONDS);
        connection.runScheduledPendingTasks();
    }

    private void passTo(long atMs) {
        while (nowMs < atMs) {
            pass(Math.min(atMs - nowMs, PeerLifetime.LOOK.toMillis()));
        }
    }

    @Test
    void aStorageNodesEndsWithItsCertificate() {
        watch(node("node/a"));
        passTo(END_MS - 1);
        assertThat(ends).isEmpty();
        pass(1);
        assertThat(ends).containsExactly("its certificate has ended");
        pass(END_MS);
        assertThat(ends).as("once").hasSize(1);
    }

    @Test
    void itEndsSoonAfterTheRootIsGone() {
        watch(node("node/a"));
        passTo(END_MS / 2);
        trusted = false;
        pass(PeerLifetime.LOOK.toMillis());
        trusted = true;
        pass(PeerLifetime.LOOK.toMillis());
        trusted = false;
        pass(PeerLifetime.LOOK.toMillis());
        assertThat(ends)
                .as("it may prove a newer certificate until the next look")
                .isEmpty();
        pass(PeerLifetime.LOOK.toMillis());
        assertThat(ends).containsExactly("the root is not trusted any more that its certificate leads to");
        pass(END_MS);
        assertThat(ends).hasSize(1);
    }

    @Test
    void itLastsAsLongAsWhatItsPeerHasProven() {
        PeerAdmission admission = node("node/a");
        watch(admission);
        Principal newer = new Principal(PeerName.ofPath(POOL, "node/a"), END_MS + 1000);
        assertThat(admission.take(new PeerAdmission.Proven(newer, List.of(), List.of())))
                .isEmpty();
        passTo(END_MS + 999);
        assertThat(ends).isEmpty();
        pass(1);
        assertThat(ends).containsExactly("its certificate has ended");
    }

    @Test
    void aClientsEndsWhenItsRootIsFoundGone() {
        watch(node("node/a"), false);
        passTo(END_MS / 2);
        trusted = false;
        pass(PeerLifetime.LOOK.toMillis());
        assertThat(ends).containsExactly("the root is not trusted any more that its certificate leads to");
    }

    @Test
    void aClockThatIsSetForwardIsFollowed() {
        watch(node("node/a"));
        nowMs = END_MS;
        pass(PeerLifetime.LOOK.toMillis());
        assertThat(ends).hasSize(1);
    }

    @Test
    void nothingLooksAtAConnectionThatIsClosed() {
        watch(node("node/a"));
        pass(PeerLifetime.LOOK.toMillis());
        assertThat(looks).isEqualTo(1);
        assertThat(connection.close().isDone()).isTrue();
        pass(END_MS);
        assertThat(looks).isEqualTo(1);
        assertThat(ends).isEmpty();
    }

    @Test
    void aPlainPeersLasts() {
        watch(PeerAdmission.PLAIN);
        pass(END_MS);
        assertThat(ends).isEmpty();
    }
}
