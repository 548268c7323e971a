// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.seal;

import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.GrantMac;
import dev.kvpool.dataplane.wire.message.GrantSecret;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;

/** Computes the MACs of the grants for one storage node, as that node does ({@code native/src/secure/grant_seal.cc}). */
public final class GrantSeal {
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private static final int PINS = 5 * Long.BYTES;
    private static final int SOFT_PIN = PINS + Byte.BYTES;
    private static final int GROUP = SOFT_PIN + Integer.BYTES;
    private static final byte SOFT = 1;
    private static final byte HARD = 2;

    private final Mac mac;
    private final byte[] head = new byte[GROUP + Long.BYTES];
    private final byte[] whole;

    public GrantSeal(GrantSecret secret) {
        mac = TermSecret.keyed(secret.bytes());
        whole = new byte[mac.getMacLength()];
    }

    /**
     * The word of the leader for one grant.
     *
     * @param key qualified, so it says the tenant too
     */
    public GrantMac of(Authority authority, ObjectId id, long payloadLength, Retention retention, Key key) {
        LONG.set(head, 0, authority.epoch());
        LONG.set(head, Long.BYTES, authority.nonce());
        LONG.set(head, 2 * Long.BYTES, id.epoch());
        LONG.set(head, 3 * Long.BYTES, id.counter());
        LONG.set(head, 4 * Long.BYTES, payloadLength);
        head[PINS] = (byte) ((retention.soft() ? SOFT : 0) | (retention.hard() ? HARD : 0));
        INT.set(head, SOFT_PIN, (int) retention.softMs());
        LONG.set(head, GROUP, retention.group());
        mac.update(head);
        mac.update(key.bytes());
        try {
            mac.doFinal(whole, 0);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("%d bytes do not hold an HMAC-SHA256".formatted(whole.length), e);
        }
        return new GrantMac((long) LONG.get(whole, 0), (long) LONG.get(whole, Long.BYTES));
    }
}
