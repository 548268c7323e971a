// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProven;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.Principal;
import dev.kvpool.identity.peer.Refusal;
import dev.kvpool.wire.Role;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the ends of a storage node's connection prove to each other, with a clock of the test's. */
class CertificateProofsTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final CertificateProof PROOF = new CertificateProof(List.of(), ByteBuffer.allocate(0));
    private static final Credentials OLD = FakeAuthentication.credentials(Instant.EPOCH.plus(Duration.ofDays(1)));
    private static final Credentials NEW = FakeAuthentication.credentials(Instant.EPOCH.plus(Duration.ofDays(2)));

    private final EmbeddedChannel connection = new EmbeddedChannel();
    private final List<String> ends = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();
    private final TlsCounts counts = new TlsCounts();
    private final FakeAuthentication peer = new FakeAuthentication(principal("node/a", 100_000), OLD);
    private final PeerAdmission admission = new PeerAdmission(peer, counts);
    private long nowMs = 1_000;
    private long setBackMs;
    private CertificateProofs proofs;

    private static Principal principal(String name, long notAfterMs) {
        return new Principal(PeerName.ofPath(POOL, name), notAfterMs);
    }

    @BeforeEach
    void begin() {
        connection.freezeTime();
        assertThat(admission.objection(PeerSocket.hello(Role.NODE, POOL, "a", 1), _ -> true))
                .isEmpty();
        proofs = CertificateProofs.begin(
                connection,
                admission,
                () -> Instant.ofEpochMilli(nowMs - setBackMs),
                () -> nowMs,
                warnings::add,
                ends::add);
    }

    private void pass(Duration time) {
        for (long left = time.toMillis(); left > 0; left -= 100) {
            nowMs += 100;
            connection.advanceTimeBy(100, TimeUnit.MILLISECONDS);
            connection.runPendingTasks();
            connection.runScheduledPendingTasks();
        }
    }

    private String answerTo(String name, long notAfterMs) {
        peer.proves = Optional.of(principal(name, notAfterMs));
        proofs.receive(PROOF);
        connection.runPendingTasks();
        CertificateProven answer = connection.readOutbound();
        pass(CertificateProofs.GAP_MIN);
        return answer.problem();
    }

    @Test
    void theConnectionStandsByWhatThePeerHasProven() {
        assertThat(answerTo("node/a", 200_000)).isEmpty();
        assertThat(admission.notAfterMs()).hasValue(200_000);
        assertThat(peer.taken).isPresent();
        assertThat(answerTo("node/a", 300_000)).isEmpty();
        assertThat(admission.notAfterMs()).hasValue(300_000);
        assertThat(ends).isEmpty();
    }

    @Test
    void anotherNameOrRoleProvesNothing() {
        for (String other : List.of("node/b", "master/a", "agent/a", "tenant/default/rw/a")) {
            assertThat(answerTo(other, 200_000)).contains("is of " + other + ", the connection is of node/a");
        }
        assertThat(admission.notAfterMs()).hasValue(100_000);
        assertThat(admission.name()).isEqualTo("node/a");
        assertThat(peer.taken).isEmpty();
        assertThat(counts.refusals(Refusal.PROOF)).isEqualTo(4);
        assertThat(ends).as("the connection goes on until its end").isEmpty();
        assertThat(warnings).hasSize(4);
    }

    @Test
    void whatIsNotBelievedProvesNothing() {
        proofs.receive(PROOF);
        connection.runPendingTasks();
        CertificateProven answer = connection.readOutbound();
        assertThat(answer.problem()).contains("is not believed", "no signature");
        assertThat(admission.notAfterMs()).hasValue(100_000);
    }

    @Test
    void proofsThatComeTooFastEndTheConnection() {
        peer.proves = Optional.of(principal("node/a", 200_000));
        proofs.receive(PROOF);
        connection.runPendingTasks();
        assertThat(ends).isEmpty();
        nowMs += CertificateProofs.GAP_MIN.toMillis() - 1;
        proofs.receive(PROOF);
        assertThat(ends).containsExactly("it proves certificates too fast");
    }

    @Test
    void aClockThatIsSetBackDelaysNoProofAndMakesNoneTooFast() {
        assertThat(answerTo("node/a", 200_000)).isEmpty();
        peer.current = NEW;
        pass(CertificateProofs.LOOK_MAX);
        setBackMs = Duration.ofHours(1).toMillis();
        assertThat(answerTo("node/a", 300_000)).isEmpty();
        pass(ProofSchedule.SPREAD_MAX);
        assertThat(connection.<Object>readOutbound()).isInstanceOf(CertificateProof.class);
        assertThat(ends).isEmpty();
    }

    @Test
    void aProofThatCannotBeMadeIsTriedAgain() {
        peer.current = NEW;
        peer.cannotProve = true;
        pass(ProofSchedule.SPREAD_MAX.plus(CertificateProofs.LOOK_MAX));
        peer.cannotProve = false;
        pass(ProofSchedule.PAUSE_MAX.plus(CertificateProofs.LOOK_MAX));
        assertThat(connection.<Object>readOutbound()).isInstanceOf(CertificateProof.class);
    }

    @Test
    void otherRootsAloneAreNotProven() {
        peer.current = new Credentials(OLD.name(), OLD.key(), OLD.chain(), NEW.roots(), OLD.foreign());
        pass(Duration.ofMinutes(1));
        assertThat(connection.<Object>readOutbound()).isNull();
    }

    @Test
    void aNewerCertificateOfTheMasterIsProvenOnce() {
        pass(Duration.ofMinutes(1));
        assertThat(connection.<Object>readOutbound()).isNull();
        peer.current = NEW;
        pass(ProofSchedule.SPREAD_MAX.plus(CertificateProofs.LOOK_MAX));
        assertThat(connection.<Object>readOutbound()).isInstanceOf(CertificateProof.class);
        pass(Duration.ofMinutes(1));
        assertThat(connection.<Object>readOutbound()).isNull();
        proofs.receive(new CertificateProven(""));
        pass(Duration.ofMinutes(1));
        assertThat(connection.<Object>readOutbound()).isNull();
        assertThat(ends).isEmpty();
    }

    @Test
    void oneThatTheNodeDoesNotTakeIsProvenAgainBehindAPause() {
        peer.current = NEW;
        pass(ProofSchedule.SPREAD_MAX.plus(CertificateProofs.LOOK_MAX));
        assertThat(connection.<Object>readOutbound()).isInstanceOf(CertificateProof.class);
        proofs.receive(new CertificateProven("its ca.crt\nis older"));
        assertThat(warnings).singleElement().asString().contains("one before: its ca.crt?is older");
        pass(ProofSchedule.PAUSE_MIN.minusMillis(100));
        assertThat(connection.<Object>readOutbound()).isNull();
        pass(ProofSchedule.PAUSE_MAX.plus(CertificateProofs.LOOK_MAX));
        assertThat(connection.<Object>readOutbound()).isInstanceOf(CertificateProof.class);
        assertThat(connection.<Object>readOutbound()).isNull();
    }

    @Test
    void anAnswerToNoProofEndsTheConnection() {
        proofs.receive(new CertificateProven(""));
        assertThat(ends).containsExactly("it answers a proof of a certificate that was not sent");
    }

    @Test
    void nothingIsProvenOnAConnectionThatIsClosed() {
        assertThat(connection.close().isDone()).isTrue();
        peer.current = NEW;
        pass(Duration.ofMinutes(1));
        assertThat(connection.<Object>readOutbound()).isNull();
    }
}
