// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import dev.kvpool.dataplane.secure.Credentials;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * When this process proves a newer certificate to the other end of one connection. Times in milliseconds are those of a clock that is never set;
 * {@code now} is the time that certificates end by.
 */
final class ProofSchedule {
    /** A new certificate of this process goes to all storage nodes, and each proof costs as much as half a handshake: they are sent within this time. */
    static final Duration SPREAD_MAX = Duration.ofSeconds(5);

    /** From the answer to one proof to the next proof, and longer behind one that was not taken. */
    static final Duration PAUSE_MIN = Duration.ofSeconds(1);

    static final Duration PAUSE_MAX = Duration.ofSeconds(30);

    private static final int PARTS_OF_REST = 4;

    private final RandomGenerator random;
    private Credentials shown;
    private Optional<Credentials> next = Optional.empty();
    private boolean sent;
    private long atMs = Long.MIN_VALUE;
    private long notBeforeMs = Long.MIN_VALUE;

    /** @param shown by which the other end knows this process */
    ProofSchedule(Credentials shown, RandomGenerator random) {
        this.shown = shown;
        this.random = random;
    }

    /** Whether a proof of {@code own} is due; then it is sent. */
    boolean isDue(long nowMs, Instant now, Credentials own) {
        if (sent) {
            return false; // its answer comes, or the connection ends
        }
        if (own.chain().equals(shown.chain())) { // other roots alone are no news to the other end
            next = Optional.empty();
            return false;
        }
        if (next.filter(own::equals).isEmpty()) {
            next = Optional.of(own);
            atMs = nowMs + random.nextLong(partOfRestMs(now, Duration.ZERO, SPREAD_MAX) + 1);
        }
        if (nowMs < Math.max(atMs, notBeforeMs)) {
            return false;
        }
        sent = true;
        return true;
    }

    /** The other end has taken it, or not; false when none was sent. */
    boolean answered(long nowMs, Instant now, boolean taken) {
        if (!sent) {
            return false;
        }
        sent = false;
        notBeforeMs = nowMs + PAUSE_MIN.toMillis(); // from the answer: the proof itself may have come late
        if (taken) {
            shown = next.orElseThrow();
            next = Optional.empty();
        } else {
            long pauseMs = partOfRestMs(now, PAUSE_MIN, PAUSE_MAX);
            atMs = nowMs + pauseMs / 2 + random.nextLong(pauseMs / 2 + 1);
        }
        return true;
    }

    /**
     * A quarter of what is left of the certificate that the other end knows: several attempts have their time before its end, whatever its life.
     */
    private long partOfRestMs(Instant now, Duration least, Duration most) {
        long leftMs = Duration.between(now, shown.notAfter()).toMillis();
        return Math.clamp(leftMs / PARTS_OF_REST, least.toMillis(), most.toMillis());
    }
}
