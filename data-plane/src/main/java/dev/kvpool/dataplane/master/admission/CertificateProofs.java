// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.AboutCertificates;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProof;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.CertificateProven;
import dev.kvpool.identity.peer.RefusedPeerException;
import dev.kvpool.identity.text.Quoted;
import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the connection of a storage node last longer than the certificates by which it was opened: either end proves over it that it holds a newer
 * one. Each new connection has the node's whole directory come again, and until its end a leader cannot use the node. On the connection's event
 * loop; what takes the processor is done on the threads of handshakes.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it
public final class CertificateProofs {
    private static final Logger LOG = LoggerFactory.getLogger(CertificateProofs.class);

    /** How often is looked for a newer certificate of this process, unless the present one has little time left. */
    static final Duration LOOK_MAX = Duration.ofSeconds(1);

    static final Duration LOOK_MIN = Duration.ofMillis(50);
    private static final int LOOKS_OF_REST = 20;

    /** A node leaves more time between two proofs, each of which costs as a handshake does. */
    static final Duration GAP_MIN = Duration.ofMillis(500);

    private final Channel connection;
    private final PeerAdmission admission;
    private final InstantSource clock;
    private final LongSupplier uptimeMs;
    private final Consumer<String> warn;
    private final Consumer<String> end;
    private final ProofSchedule own;
    private long notBeforeMs = Long.MIN_VALUE;
    private boolean checking;
    private Future<?> next;

    private CertificateProofs(
            Channel connection,
            PeerAdmission admission,
            InstantSource clock,
            LongSupplier uptimeMs,
            Consumer<String> warn,
            Consumer<String> end) {
        this.connection = connection;
        this.admission = admission;
        this.clock = clock;
        this.uptimeMs = uptimeMs;
        this.warn = warn;
        this.end = end;
        own = new ProofSchedule(admission.authentication().shown(), ThreadLocalRandom.current());
    }

    /**
     * Begins for a connection whose peer was greeted, and is not plain.
     *
     * @param clock by which certificates end
     * @param uptimeMs milliseconds of a clock that is never set
     * @param warn called with the reason each time either end does not take a proof of the other
     * @param end called with the reason when the peer says what no storage node does
     */
    public static CertificateProofs begin(
            Channel connection,
            PeerAdmission admission,
            InstantSource clock,
            LongSupplier uptimeMs,
            Consumer<String> warn,
            Consumer<String> end) {
        CertificateProofs proofs = new CertificateProofs(connection, admission, clock, uptimeMs, warn, end);
        proofs.lookLater();
        connection.closeFuture().addListener(_ -> proofs.next.cancel(false));
        return proofs;
    }

    /** What the peer says. */
    public void receive(AboutCertificates message) {
        switch (message) {
            case CertificateProof proof -> receive(proof);
            case CertificateProven answer -> receive(answer);
        }
    }

    private void receive(CertificateProof proof) {
        long nowMs = uptimeMs.getAsLong();
        if (checking || nowMs < notBeforeMs) {
            end.accept("it proves certificates too fast");
            return;
        }
        checking = true;
        notBeforeMs = nowMs + GAP_MIN.toMillis();
        admission.authentication().work().execute(() -> check(proof));
    }

    /** On any thread. */
    private void check(CertificateProof proof) {
        try {
            PeerAdmission.Proven proven = admission.authentication().check(proof);
            connection.eventLoop().execute(() -> checked(admission.take(proven)));
        } catch (GeneralSecurityException | RefusedPeerException | RuntimeException e) {
            // The JDK's parsers throw what they like at bytes of others.
            String problem = "the newer certificate is not believed: " + Quoted.cut(String.valueOf(e.getMessage()));
            connection.eventLoop().execute(() -> checked(problem));
        }
    }

    private void checked(String problem) {
        checking = false;
        if (problem.isEmpty()) {
            LOG.debug("the connection of {} stands by its newer certificate now", admission.name());
        } else {
            admission.countProofRefused();
            warn.accept("it proves no newer certificate, and its connection ends with the one before: " + problem);
        }
        connection.writeAndFlush(new CertificateProven(problem));
    }

    private void receive(CertificateProven answer) {
        if (!own.answered(
                uptimeMs.getAsLong(), clock.instant(), answer.problem().isEmpty())) {
            end.accept("it answers a proof of a certificate that was not sent");
            return;
        }
        if (!answer.problem().isEmpty()) {
            warn.accept(
                    "it does not take the newer certificate of this master, and the connection ends with the one before: "
                            + Quoted.cut(answer.problem()));
        }
    }

    private void lookLater() {
        Duration left = Duration.between(
                clock.instant(), admission.authentication().current().notAfter());
        long ms = left.isNegative()
                ? LOOK_MAX.toMillis()
                : Math.clamp(left.dividedBy(LOOKS_OF_REST).toMillis(), LOOK_MIN.toMillis(), LOOK_MAX.toMillis());
        next = connection.eventLoop().schedule(this::look, ms, TimeUnit.MILLISECONDS);
    }

    private void look() {
        Credentials current = admission.authentication().current();
        if (own.isDue(uptimeMs.getAsLong(), clock.instant(), current)) {
            admission.authentication().work().execute(() -> prove(current));
        }
        lookLater();
    }

    /** On any thread. */
    private void prove(Credentials current) {
        try {
            connection.writeAndFlush(admission.authentication().prove(current));
        } catch (GeneralSecurityException | RuntimeException e) {
            LOG.error(
                    "the newer certificate of this master cannot be proven to {}, it tries again", admission.name(), e);
            connection.eventLoop().execute(() -> own.answered(uptimeMs.getAsLong(), clock.instant(), false));
        }
    }
}
