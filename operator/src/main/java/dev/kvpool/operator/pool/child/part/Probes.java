// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.Probe;
import io.fabric8.kubernetes.api.model.ProbeBuilder;

/** Probes of the admin endpoint, which masters and storage nodes have in the same form. */
public final class Probes {
    private static final String PORT = PoolNames.ADMIN;

    /** What hangs has nothing to finish, however long the pod may take to end in order. */
    private static final long GRACE_OF_THE_HUNG_S = 15;

    private Probes() {}

    /** Waits up to {@code limitSeconds} for the process to come up, then gives way to the other two. */
    public static Probe startup(int limitSeconds) {
        return ending(http("/healthz", 1, limitSeconds));
    }

    /** Restarts a process that has not answered for a minute. A busy machine must not look like a dead process. */
    public static Probe liveness() {
        return ending(http("/healthz", 10, 6));
    }

    public static Probe readiness() {
        return http("/readyz", 2, 2);
    }

    /** One whose failure ends the container. */
    private static Probe ending(Probe probe) {
        probe.setTerminationGracePeriodSeconds(GRACE_OF_THE_HUNG_S);
        return probe;
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
