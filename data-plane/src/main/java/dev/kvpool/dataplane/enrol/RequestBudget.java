// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.function.LongSupplier;

/**
 * So many requests a second of each source, and so many of all: signatures are checked by the processor, and more would be taken from the core's
 * share of it. All may ask for several times what one may, and what is around sources for a part, so that neither keeps the others out. Safe from
 * any thread.
 *
 * @param <K> what a source is known by
 */
final class RequestBudget<K> {
    private final String source;
    private final String around;
    private final int ofOneMax;
    private final IntUnaryOperator ofAroundMax;
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
     * @param around what is around it, for messages
     * @param ofAroundMax for all that have the same around them, by how many all leave free
     * @param uptimeMs milliseconds of a clock that is never set
     */
    RequestBudget(
            String source,
            String around,
            int ofOneMax,
            IntUnaryOperator ofAroundMax,
            int ofAllMax,
            LongSupplier uptimeMs) {
        this.source = source;
        this.around = around;
        this.ofOneMax = ofOneMax;
        this.ofAroundMax = ofAroundMax;
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
     * @param shared what all that have the same around them are known by
     */
    synchronized Optional<String> problem(K from, Optional<K> shared) {
        long now = TimeUnit.MILLISECONDS.toSeconds(uptimeMs.getAsLong());
        if (now != second) {
            second = now;
            ofAll = 0;
            ofEach.clear();
        }
        if (ofEach.getOrDefault(from, 0) >= ofOneMax) {
            return Optional.of("more than " + ofOneMax + " a second from one " + source);
        }
        if (ofAll >= ofAllMax) {
            return Optional.of("more than " + ofAllMax + " a second from all");
        }
        int had = shared.map(all -> ofEach.getOrDefault(all, 0)).orElse(0);
        if (shared.isPresent() && had >= ofAroundMax.applyAsInt(ofAllMax - ofAll - 1)) {
            return Optional.of("more than its share a second from one " + around);
        }
        ofEach.merge(from, 1, Integer::sum);
        shared.ifPresent(all -> ofEach.merge(all, 1, Integer::sum));
        ofAll++;
        return Optional.empty();
    }
}
