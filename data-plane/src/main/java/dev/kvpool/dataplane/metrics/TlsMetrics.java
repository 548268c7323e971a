// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

import dev.kvpool.dataplane.secure.Credentials;
import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.identity.peer.Refusal;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Instant;
import java.util.function.Function;

/** Certificates, handshakes and refusals as metrics, of every process that has them. */
final class TlsMetrics {
    private TlsMetrics() {}

    /** How long the certificates last, and who was refused. */
    static void bindTo(MeterRegistry registry, PoolSecurity security) {
        notAfter(registry, security, "leaf", Credentials::notAfter);
        notAfter(registry, security, "ca", Credentials::rootsNotAfter);
        for (Refusal refusal : Refusal.values()) {
            FunctionCounter.builder("kvpool.auth.refusals", security.counts(), it -> it.refusals(refusal))
                    .description("Connections and requests refused for who the peer is")
                    .tag("reason", refusal.word())
                    .register(registry);
        }
    }

    /** Handshakes on the data port. */
    static void handshakes(MeterRegistry registry, TlsCounts counts) {
        String name = "kvpool.tls.handshakes";
        String help = "TLS handshakes on the data port";
        FunctionCounter.builder(name, counts, TlsCounts::handshakes)
                .description(help)
                .tag("result", "ok")
                .register(registry);
        FunctionCounter.builder(name, counts, TlsCounts::failedHandshakes)
                .description(help)
                .tag("result", "failed")
                .register(registry);
    }

    private static void notAfter(
            MeterRegistry registry, PoolSecurity security, String kind, Function<Credentials, Instant> end) {
        Gauge.builder(
                        "kvpool.certificate.not.after.seconds",
                        security,
                        it -> it.current()
                                .map(tls ->
                                        (double) end.apply(tls.credentials()).getEpochSecond())
                                .orElse(0.0))
                .description(
                        "End of the certificate in use and of the first trusted root to end, in seconds since 1970; 0 without one")
                .tag("kind", kind)
                .register(registry);
    }
}
