// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.seal;

import dev.kvpool.dataplane.wire.message.GrantSecret;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.random.RandomGenerator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * What a leader draws when it takes over, and keeps in memory until its term ends. A storage node is told what follows from it and the
 * node's id, so that none of them can vouch for what another one is to believe.
 */
public final class TermSecret {
    private static final String ALGORITHM = "HmacSHA256";

    private final RandomGenerator random;
    private final byte[] secret = new byte[GrantSecret.BYTES];
    private boolean isDrawn;

    /**
     * None yet.
     *
     * @param random of which none can guess what it draws
     */
    public TermSecret(RandomGenerator random) {
        this.random = random;
    }

    /** A new term, for the first time or under a raised epoch. */
    public void begin() {
        random.nextBytes(secret);
        isDrawn = true;
    }

    /** Nothing of it is kept. */
    public void end() {
        Arrays.fill(secret, (byte) 0);
        isDrawn = false;
    }

    /**
     * What one node is told.
     *
     * @throws IllegalStateException when no term has begun, or it has ended
     */
    public GrantSecret of(String nodeId) {
        if (!isDrawn) {
            throw new IllegalStateException("there is no secret outside of a term");
        }
        return GrantSecret.of(keyed(secret).doFinal(nodeId.getBytes(StandardCharsets.UTF_8)));
    }

    static Mac keyed(byte[] key) {
        try {
            Mac mac = Mac.getInstance(ALGORITHM);
            mac.init(new SecretKeySpec(key, ALGORITHM));
            return mac;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("every Java platform has " + ALGORITHM, e);
        }
    }
}
