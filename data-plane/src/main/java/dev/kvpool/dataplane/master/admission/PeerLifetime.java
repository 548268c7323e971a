// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import io.netty.channel.Channel;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Ends a connection with the certificate that its peer has shown, as its owner may have lost its part in the pool since; and soon after the root
 * went to which that leads. Clients have replaced it by then, and storage nodes have proven newer certificates ({@link CertificateProofs}).
 */
public final class PeerLifetime {
    /** How often is looked whether the root is still there. */
    static final Duration LOOK = Duration.ofSeconds(10);

    private final Channel connection;
    private final PeerAdmission admission;
    private final boolean proves;
    private final InstantSource clock;
    private final Consumer<String> end;
    private boolean trusted = true; // at the last look
    private Future<?> next;

    private PeerLifetime(
            Channel connection, PeerAdmission admission, boolean proves, InstantSource clock, Consumer<String> end) {
        this.connection = connection;
        this.admission = admission;
        this.proves = proves;
        this.clock = clock;
        this.end = end;
    }

    /**
     * Watches a connection whose peer was greeted; a plain peer's lasts. On its event loop.
     *
     * @param proves whether the peer may prove another certificate, as storage nodes do, until the look behind the one that finds its root gone
     * @param end called once, with the reason, when the connection must not be used any more
     */
    public static void watch(
            Channel connection, PeerAdmission admission, boolean proves, InstantSource clock, Consumer<String> end) {
        if (admission.notAfterMs().isPresent()) {
            PeerLifetime lifetime = new PeerLifetime(connection, admission, proves, clock, end);
            lifetime.lookLater();
            connection.closeFuture().addListener(_ -> lifetime.next.cancel(false));
        }
    }

    private void lookLater() {
        long leftMs = notAfterMs() - clock.millis();
        next = connection
                .eventLoop()
                .schedule(this::look, Math.clamp(leftMs, 0, LOOK.toMillis()), TimeUnit.MILLISECONDS);
    }

    /** Proofs move it. */
    private long notAfterMs() {
        return admission.notAfterMs().orElseThrow();
    }

    private void look() {
        boolean mayProve = proves && trusted;
        trusted = admission.isTrusted();
        if (clock.millis() >= notAfterMs()) {
            end.accept("its certificate has ended");
        } else if (!trusted && !mayProve) {
            end.accept("the root is not trusted any more that its certificate leads to");
        } else {
            lookLater();
        }
    }
}
