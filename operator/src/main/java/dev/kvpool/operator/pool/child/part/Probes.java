// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;

/** Probes of the admin endpoint, which masters and storage nodes have in the same form. */
public final class Probes {
    private static final String PORT = PoolNames.ADMIN;

    private Probes() {}

    /** Waits up to {@code limitSeconds} for the process to come up, then gives way to the other two. */
    public static Probe startup(int limitSeconds) {
        return http("/healthz", 1, limitSeconds);
    }

    /** Restarts a process that has not answered for a minute. A busy machine must not look like a dead process. */
    public static Probe liveness() {
        return http("/healthz", 10, 6);
    }

    public static Probe readiness() {
        return http("/readyz", 2, 2);
    }

    private static Probe http(String path, int periodSeconds, int failures) {
        return new ProbeBuilder()
                .withNewHttpGet()
                .withPath(path)
                .withNewPort(PORT)
                .withScheme("HTTP")
                .endHttpGet()
                .withPeriodSeconds(periodSeconds)
                .withTimeoutSeconds(5)
                .withFailureThreshold(failures)
                .build();
    }
}
