// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * So many requests a second of each source, and so many of all: signatures are checked by the processor, and more would be taken from the core's
 * share of it. All may ask for several times what one may, so that one source does not keep the others out. Safe from any thread.
 *
 * @param <K> what a source is known by
 */
final class RequestBudget<K> {
    static final int TIMES_OF_AROUND = 5;

    private final String source;
    private final int ofOneMax;
    private final int ofAllMax;
    private final LongSupplier uptimeMs;
    private long second = -1;
    private int ofAll;

    /** Of this second. Only a source that is admitted comes in, and what is around it, so there are at most twice {@link #ofAllMax}. */
    private final Map<K, Integer> ofEach = new HashMap<>();

    /**
     * With nothing asked yet.
     *
     * @param source what one is, for messages
     * @param uptimeMs milliseconds of a clock that is never set
     */
    RequestBudget(String source, int ofOneMax, int ofAllMax, LongSupplier uptimeMs) {
        this.source = source;
        this.ofOneMax = ofOneMax;
        this.ofAllMax = ofAllMax;
        this.uptimeMs = uptimeMs;
    }

    /** Counts one more; else the bound that is reached, for people. */
    Optional<String> problem(K from) {
        return problem(from, Optional.empty());
    }

    /**
     * The same for a source that has others around it.
     *
     * @param around what they all are known by; together they may ask for {@link #TIMES_OF_AROUND} times what one may
     */
    synchronized Optional<String> problem(K from, Optional<K> around) {
        long now = TimeUnit.MILLISECONDS.toSeconds(uptimeMs.getAsLong());
        if (now != second) {
            second = now;
            ofAll = 0;
            ofEach.clear();
        }
        if (ofEach.getOrDefault(from, 0) >= ofOneMax) {
            return Optional.of("more than " + ofOneMax + " a second from one " + source);
        }
        int ofAroundMax = ofOneMax * TIMES_OF_AROUND;
        if (around.isPresent() && ofEach.getOrDefault(around.get(), 0) >= ofAroundMax) {
            return Optional.of("more than " + ofAroundMax + " a second from those around one " + source);
        }
        if (ofAll >= ofAllMax) {
            return Optional.of("more than " + ofAllMax + " a second from all");
        }
        ofEach.merge(from, 1, Integer::sum);
        around.ifPresent(all -> ofEach.merge(all, 1, Integer::sum));
        ofAll++;
        return Optional.empty();
    }
}
