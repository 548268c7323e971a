// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.election.ElectionTimes;
import dev.kvpool.dataplane.election.FileLeaseStore;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.master.LeaderProbe.Finding;
import dev.kvpool.dataplane.wire.Handshake;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.dataplane.wire.message.Authority;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A standby looks after a leader over real sockets, and takes a Lease that would be valid for hours. */
class EarlyTakeoverTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a02");
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final ElectionTimes SLOW = new ElectionTimes(7_200_000, 3_600_000, 1_000_000);
    private static final Authority DEAD = new Authority(5, 0xdead);

    @TempDir
    Path directory;

    private MasterProcess start(String name, ElectionTimes times) throws IOException, InterruptedException {
        MasterConfig config = new LoopbackMaster(POOL, name, directory)
                .expecting("a")
                .timed(times)
                .config();
        return MasterProcess.start(config, PeerSocket.VERSIONS, () -> {});
    }

    private void leaseOfTheDead() throws Exception {
        try (FileLeaseStore store = new FileLeaseStore(directory.resolve("lease"))) {
            String holder = "m-dead_000000000000dead";
            store.create(new LeaseRecord(holder, 7_200, Instant.now(), Instant.now(), DEAD.epoch()));
        }
    }

    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Test
    void theLeaseOfALeaderThatIsGoneIsTakenAtOnce() throws Exception {
        leaseOfTheDead();
        try (MasterProcess standby = start("m-1", SLOW);
                SocketNode node = new SocketNode(POOL, "a").dial(standby.port())) {
            node.sayCrashed(DEAD, "127.0.0.1:" + closedPort());

            await().atMost(PATIENCE).until(() -> standby.status().epoch() == 6);
        }
    }

    @Test
    void aProcessThatSucceededTheLeaderAtItsAddressProvesAsMuch() throws Exception {
        leaseOfTheDead();
        try (MasterProcess standby = start("m-1", SLOW);
                SocketNode node = new SocketNode(POOL, "a").dial(standby.port())) {
            node.sayCrashed(DEAD, "127.0.0.1:" + standby.port());

            await().atMost(PATIENCE).until(() -> standby.status().epoch() == 6);
        }
    }

    @Test
    void aMasterIsThereForWhoeverAsksForItsIncarnationAndGoneForOthers() throws Exception {
        Handshake.Self self = new Handshake.Self("probe", POOL, 77, PeerSocket.VERSIONS);
        LeaderProbe probe = new LeaderProbe(self);
        try (MasterProcess leader = start("m-0", ElectionTimes.DEFAULT)) {
            String address = "127.0.0.1:" + leader.port();
            await().atMost(PATIENCE).until(() -> leader.status().epoch() == 1);
            String holder = new FileLeaseStore(directory.resolve("lease"))
                    .read()
                    .orElseThrow()
                    .lease()
                    .holder();
            long nonce = Long.parseUnsignedLong(holder.substring(holder.indexOf('_') + 1), 16);

            assertThat(probe.look(address, nonce)).isEqualTo(Finding.THERE);
            assertThat(probe.look(address, nonce + 1)).isEqualTo(Finding.GONE);
        }
        assertThat(probe.look("127.0.0.1:" + closedPort(), 5)).isEqualTo(Finding.GONE);
    }

    @Test
    void whatSaysNothingIsNotTakenForDeath() throws Exception {
        LeaderProbe probe = new LeaderProbe(new Handshake.Self("probe", POOL, 77, PeerSocket.VERSIONS));
        try (ServerSocket mute = new ServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            assertThat(probe.look("127.0.0.1:" + mute.getLocalPort(), 5)).isEqualTo(Finding.UNKNOWN);
        }
        assertThat(probe.look("", 5)).isEqualTo(Finding.UNKNOWN);
        assertThat(probe.look("no port", 5)).isEqualTo(Finding.UNKNOWN);
        assertThat(probe.look("no-such-host.invalid:1", 5)).isEqualTo(Finding.UNKNOWN);
    }
}
