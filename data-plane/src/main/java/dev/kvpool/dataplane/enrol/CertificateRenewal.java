// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Keeps a directory's certificate new: another one at half of the life of each, and after a failure one try after the other, ever later. */
final class CertificateRenewal {
    private static final Duration AGAIN_MIN = Duration.ofSeconds(1);
    private static final Duration AGAIN_MAX = Duration.ofMinutes(1);

    /** What happened. */
    interface Told {
        void enrolled(EnrolClient.Written written);

        void failed(IOException why, Duration again);
    }

    private final EnrolClient client;
    private final Told told;
    private Duration again = AGAIN_MIN;
    private boolean hasOne;

    CertificateRenewal(EnrolClient client, Told told) {
        this.client = client;
        this.told = told;
    }

    /** Tries once, and says how long to wait until the next time. */
    Duration step() {
        try {
            EnrolClient.Written written = client.enrol();
            told.enrolled(written);
            hasOne = true;
            again = AGAIN_MIN;
            return untilRenewal(written.life(), ThreadLocalRandom.current().nextDouble());
        } catch (IOException e) {
            Duration wait = again;
            again = again.multipliedBy(2).compareTo(AGAIN_MAX) < 0 ? again.multipliedBy(2) : AGAIN_MAX;
            told.failed(e, wait);
            return wait;
        }
    }

    /** Whether a step has brought a certificate. */
    boolean hasOne() {
        return hasOne;
    }

    /**
     * Half of its life, give or take a tenth, so that pods that started together do not come together.
     *
     * @param life as the master's clock has it, so that this one's may be wrong
     * @param random 0 to 1
     */
    static Duration untilRenewal(Duration life, double random) {
        return Duration.ofMillis(Math.max(AGAIN_MIN.toMillis(), (long) (life.toMillis() * (0.45 + random / 10))));
    }
}
