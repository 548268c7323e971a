// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongSupplier;

/**
 * Keeps a directory's certificate new: another one at half of the life of each, and after a failure one try after the other, ever later. Sooner when
 * the file of roots has changed: when it has other roots than masters gave, or another one in front than has signed the certificate, as while a pool
 * changes from one certificate authority to the next.
 */
final class CertificateRenewal {
    private static final Duration AGAIN_MIN = Duration.ofSeconds(1);
    private static final Duration AGAIN_MAX = Duration.ofMinutes(1);

    /** How often is looked at the file of roots. */
    static final Duration LOOK = Duration.ofSeconds(5);

    /** All members of a pool see a changed file at about the same time. */
    private static final Duration SPREAD = Duration.ofSeconds(10);

    /** Masters have new roots up to two minutes later, and there are files that never have what masters give. */
    private static final Duration SOONER_MAX = Duration.ofHours(1);

    /** What happened. */
    interface Told {
        void enrolled(EnrolClient.Written written);

        void failed(IOException why, Duration again);
    }

    private final EnrolClient client;
    private final Told told;
    private final LongSupplier uptimeMs;
    private Duration again = AGAIN_MIN;
    private Duration againMax = AGAIN_MAX;
    private boolean hasOne;
    private long dueMs;
    private Optional<String> wanted = Optional.empty();
    private long soonerMs;
    private Duration soonerNext = SPREAD;
    private long writtenMs;

    /**
     * Has done nothing yet.
     *
     * @param uptimeMs milliseconds of a clock that is never set
     */
    CertificateRenewal(EnrolClient client, Told told, LongSupplier uptimeMs) {
        this.client = client;
        this.told = told;
        this.uptimeMs = uptimeMs;
        dueMs = uptimeMs.getAsLong();
        writtenMs = dueMs;
    }

    /** Does what is due, and says how long to wait until it looks again. */
    Duration turn() {
        long now = uptimeMs.getAsLong();
        Optional<String> outdatedBy = client.outdatedBy();
        if (!outdatedBy.equals(wanted)) {
            wanted = outdatedBy;
            soonerMs = now + spread(SPREAD);
            soonerNext = SPREAD;
        }
        if (now >= dueMs) {
            step();
        } else if (wanted.isPresent() && now >= soonerMs) {
            step();
            soonerMs = uptimeMs.getAsLong() + soonerNext.toMillis() / 2 + spread(soonerNext);
            soonerNext = min(soonerNext.multipliedBy(2), SOONER_MAX);
        }
        return min(Duration.ofMillis(Math.max(1, dueMs - uptimeMs.getAsLong())), LOOK);
    }

    private static long spread(Duration over) {
        return ThreadLocalRandom.current().nextLong(over.toMillis());
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Tries once, and says how long to wait until the next time. */
    Duration step() {
        Duration wait;
        try {
            EnrolClient.Written written = client.enrol();
            told.enrolled(written);
            hasOne = true;
            again = AGAIN_MIN;
            againMax = longestPause(written.life());
            writtenMs = uptimeMs.getAsLong();
            wait = untilRenewal(written.life(), ThreadLocalRandom.current().nextDouble());
        } catch (IOException e) {
            wait = again;
            again = min(again.multipliedBy(2), againMax);
            told.failed(e, wait);
        }
        dueMs = uptimeMs.getAsLong() + wait.toMillis();
        return wait;
    }

    /** Between two tries: of a life of a minute, half is left at the first one, and masters may be back well before its end. */
    static Duration longestPause(Duration life) {
        Duration tenth = life.dividedBy(10);
        return tenth.compareTo(AGAIN_MIN) < 0 ? AGAIN_MIN : min(tenth, AGAIN_MAX);
    }

    /** Whether a step has brought a certificate. */
    boolean hasOne() {
        return hasOne;
    }

    /** Since when the directory has what it has, as far as this process knows. */
    long writtenMs() {
        return writtenMs;
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
