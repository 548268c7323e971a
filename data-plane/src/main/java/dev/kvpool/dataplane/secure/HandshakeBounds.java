// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * How many peers of a port may try at a time to say who they are, all together and from one address: each holds memory, and a thread works some
 * milliseconds for it. Of all places a part is kept for addresses from which a peer of this pool came before. Storage nodes have the same bounds of an
 * address (net/handshake_bounds.h). Safe from any thread.
 */
public final class HandshakeBounds {
    static final int OPEN_OF_ADDRESS_MAX = 32;
    static final int BEGUN_OF_ADDRESS_MAX = 100;

    /** Those from which none came for the longest time are strangers again. */
    static final int KNOWN_MAX = 8192;

    private static final class Count {
        private int open;
        private int begun;
    }

    private final int openMax;
    private final int openOfStrangersMax;
    private final LongSupplier uptimeMs;
    private final Map<RemoteNetwork, Count> counts = new HashMap<>(); // of this second, and of what is open
    private final Set<RemoteNetwork> known = Collections.newSetFromMap(new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<RemoteNetwork, Boolean> eldest) {
            return size() > KNOWN_MAX;
        }
    });
    private long second = -1;
    private int open;

    /**
     * With nothing open.
     *
     * @param openMax how many may be open at a time, of which strangers have three quarters; more are turned away at once
     * @param uptimeMs milliseconds of a clock that is never set
     */
    public HandshakeBounds(int openMax, LongSupplier uptimeMs) {
        this.openMax = openMax;
        openOfStrangersMax = openMax - openMax / 4;
        this.uptimeMs = uptimeMs;
    }

    /** Counts one more, which {@link #end} follows; else the bound that is reached, for people. */
    public synchronized Optional<String> begin(RemoteNetwork from) {
        if (open >= openMax) {
            return Optional.of(openMax + " other handshakes are open");
        }
        if (open >= openOfStrangersMax && !known.contains(from)) {
            return Optional.of(open + " other handshakes are open, and the places left are for addresses that were"
                    + " authenticated before");
        }
        turnSecond();
        Count count = counts.computeIfAbsent(from, _ -> new Count());
        if (count.open >= OPEN_OF_ADDRESS_MAX) {
            return Optional.of(OPEN_OF_ADDRESS_MAX + " other handshakes from its address are open");
        }
        if (count.begun >= BEGUN_OF_ADDRESS_MAX) {
            return Optional.of("more than " + BEGUN_OF_ADDRESS_MAX + " handshakes a second from its address");
        }
        count.open++;
        count.begun++;
        open++;
        return Optional.empty();
    }

    private void turnSecond() {
        long now = TimeUnit.MILLISECONDS.toSeconds(uptimeMs.getAsLong());
        if (now != second) {
            second = now;
            counts.values().removeIf(count -> count.open == 0);
            counts.values().forEach(count -> count.begun = 0);
        }
    }

    /** One that began has ended, in whatever way. */
    public synchronized void end(RemoteNetwork from) {
        counts.get(from).open--;
        open--;
    }

    /** A peer of this address has shown a certificate that is believed. */
    public synchronized void authenticated(RemoteNetwork from) {
        known.add(from);
    }

    /** Whether a peer of this address was {@link #authenticated} before. */
    public synchronized boolean isKnown(RemoteNetwork from) {
        return known.contains(from);
    }

    /** How many addresses it remembers. */
    synchronized int addresses() {
        return counts.size();
    }
}
