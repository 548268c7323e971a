// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

/**
 * How many peers of a port may try at a time to say who they are, all together and from one address: each holds memory, and a thread works some
 * milliseconds for it. Of all places a part is kept for addresses from which a peer of this pool came before, and these may have more, as many engines
 * can be behind one. Storage nodes have the same bounds of a strange address (net/handshake_bounds.h). Safe from any thread.
 */
public final class HandshakeBounds {
    static final int OPEN_OF_ADDRESS_MAX = 32;
    static final int BEGUN_OF_ADDRESS_MAX = 100;

    /** A known address may have so many times as much; and so may all addresses of a network of IPv6 in which a host may choose its own. */
    static final int TIMES_OF_KNOWN = 4;

    static final int TIMES_OF_NETWORK = 8;

    /** Those from which none came for the longest time are strangers again. */
    static final int KNOWN_MAX = 8192;

    private static final class Count {
        private int open;
        private int begun;
    }

    private static final Count NOTHING = new Count();

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
        int times = known.contains(from) ? TIMES_OF_KNOWN : 1;
        Optional<String> reached = reached(from, times, "its address")
                .or(() ->
                        from.around().flatMap(network -> reached(network, TIMES_OF_NETWORK, "its network of 64 bits")));
        if (reached.isEmpty()) {
            each(from, count -> {
                count.open++;
                count.begun++;
            });
            open++;
        }
        return reached;
    }

    private Optional<String> reached(RemoteNetwork network, int times, String whose) {
        Count count = counts.getOrDefault(network, NOTHING);
        if (count.open >= OPEN_OF_ADDRESS_MAX * times) {
            return Optional.of(OPEN_OF_ADDRESS_MAX * times + " other handshakes from " + whose + " are open");
        }
        return count.begun < BEGUN_OF_ADDRESS_MAX * times
                ? Optional.empty()
                : Optional.of("more than " + BEGUN_OF_ADDRESS_MAX * times + " handshakes a second from " + whose);
    }

    /** The counts of an address, and of the network around it. */
    private void each(RemoteNetwork from, Consumer<Count> change) {
        change.accept(counts.computeIfAbsent(from, _ -> new Count()));
        from.around().ifPresent(network -> change.accept(counts.computeIfAbsent(network, _ -> new Count())));
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
        each(from, count -> count.open--);
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
