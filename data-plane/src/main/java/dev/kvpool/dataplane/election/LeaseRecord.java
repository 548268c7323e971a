// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.time.Instant;
import java.util.HexFormat;

/**
 * The fields of a leadership Lease, as {@code coordination.k8s.io/v1} has them.
 *
 * @param holder identity of the holder, empty when released
 * @param durationSeconds how long the others wait after the last change before they take it
 * @param acquireTime for people; nobody decides by it
 * @param renewTime for people: clocks differ between machines
 * @param transitions the epoch
 * @param register what the pool keeps beside its leadership; {@link Register#NONE} when there is none, or none that can be read
 */
public record LeaseRecord(
        String holder,
        int durationSeconds,
        Instant acquireTime,
        Instant renewTime,
        long transitions,
        Register register) {
    /** One without a register. */
    public LeaseRecord(String holder, int durationSeconds, Instant acquireTime, Instant renewTime, long transitions) {
        this(holder, durationSeconds, acquireTime, renewTime, transitions, Register.NONE);
    }

    public boolean isHeld() {
        return !holder.isEmpty();
    }

    /** Whether a holder with this authority wrote the record. */
    public boolean isOf(Authority authority) {
        return transitions == authority.epoch()
                && holder.endsWith("_" + HexFormat.of().toHexDigits(authority.nonce()));
    }

    /** Whether a look at this one tells a core no more than a look at the other, null when there was none. */
    public boolean tellsTheSame(LeaseRecord other) {
        return other != null && transitions == other.transitions && register.equals(other.register);
    }

    /** The master's name in an identity {@code name_nonce}. */
    public String holderName() {
        int underscore = holder.lastIndexOf('_');
        return underscore < 0 ? holder : holder.substring(0, underscore);
    }
}
