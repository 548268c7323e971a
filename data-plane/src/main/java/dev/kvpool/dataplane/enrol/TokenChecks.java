// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.enrol.RefusedTokenException.Reason;
import dev.kvpool.dataplane.secure.RemoteNetwork;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * Verifies tokens as requests bring them. One that was verified before, and had a part in the pool, costs nothing and so has no bound until it ends;
 * of others each address may bring so many a second. Addresses of the pool's members have a part of their own, which others cannot use up, so that
 * members renew their certificates whatever tokens come from elsewhere. Safe from any thread.
 */
public final class TokenChecks {
    static final int OF_ADDRESS_MAX = 20;
    static final int OF_NETWORK_MAX = 5 * OF_ADDRESS_MAX;
    static final int OF_ALL_MAX = 200;

    /** Of these, from addresses that no member of the pool has shown a token from. */
    static final int OF_OTHERS_MAX = 150;

    /** Each is about 500 bytes. Those that were not shown for the longest time are verified again. */
    static final int KNOWN_MAX = 4096;

    private final TokenVerifier verifier;
    private final InstantSource clock;
    private final RequestBudget<RemoteNetwork> ofOthers;
    private final RequestBudget<RemoteNetwork> ofMembers;

    /** Where members of the pool have shown their tokens from lately. */
    private final Map<RemoteNetwork, Boolean> members = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<RemoteNetwork, Boolean> eldest) {
            return size() > KNOWN_MAX;
        }
    };

    /** By their SHA-256: tokens themselves are not kept. */
    private final Map<String, ServiceAccountToken> known = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, ServiceAccountToken> eldest) {
            return size() > KNOWN_MAX;
        }
    };

    /**
     * Knows no token yet.
     *
     * @param uptimeMs milliseconds of a clock that is never set
     */
    public TokenChecks(TokenVerifier verifier, InstantSource clock, LongSupplier uptimeMs) {
        this.verifier = verifier;
        this.clock = clock;
        this.ofOthers = budget(OF_OTHERS_MAX, uptimeMs);
        this.ofMembers = budget(OF_ALL_MAX - OF_OTHERS_MAX, uptimeMs);
    }

    private static RequestBudget<RemoteNetwork> budget(int ofAllMax, LongSupplier uptimeMs) {
        return new RequestBudget<>("address", "network", OF_ADDRESS_MAX, free -> OF_NETWORK_MAX, ofAllMax, uptimeMs);
    }

    /**
     * Verifies a token, unless that was done before.
     *
     * @param from address that it came from
     * @throws RefusedTokenException when it is not believed, or this address, or all, bring too many
     */
    ServiceAccountToken check(String token, InetAddress from) throws RefusedTokenException {
        Optional<ServiceAccountToken> before = find(token);
        if (before.isPresent()) {
            return before.get();
        }
        RemoteNetwork address = RemoteNetwork.of(from);
        Optional<String> problem = (isOfMember(address) ? ofMembers : ofOthers).problem(address, address.around());
        if (problem.isPresent()) {
            throw new RefusedTokenException(
                    Reason.BUDGET,
                    "tokens that this master has not verified yet come faster than it takes them: " + problem.get()
                            + "; try again later");
        }
        return verifier.verify(token);
    }

    private synchronized Optional<ServiceAccountToken> find(String token) {
        if (token.length() > TokenVerifier.TOKEN_BYTES_MAX) {
            return Optional.empty(); // is not worth the digest
        }
        return Optional.ofNullable(known.get(digest(token)))
                .filter(it -> clock.instant().isBefore(it.expires()));
    }

    /** Only of tokens that have a part in the pool, of which each pod has one: strangers cannot push them out. */
    synchronized void remember(String token, ServiceAccountToken verified) {
        known.put(digest(token), verified);
    }

    /** A member of the pool has shown a good token from there. */
    synchronized void rememberMember(InetAddress from) {
        members.put(RemoteNetwork.of(from), true);
    }

    private synchronized boolean isOfMember(RemoteNetwork address) {
        return members.get(address) != null;
    }

    synchronized int known() {
        return known.size();
    }

    static String digest(String token) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }
}
