// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.time.Duration;
import java.util.Optional;

/**
 * How to store the objects of one put.
 *
 * @param replicas copies on different nodes; 0 for the pool's default
 * @param preferredNode id of the node to try first; empty for none
 * @param upsert an existing object gives way to the new one; otherwise it stays and the put is OK
 * @param softPin evicted only when nothing unpinned is left, for this long after the last use, at most 24 h; zero for the
 *     pool's default time, empty for no soft pin
 * @param hardPin never evicted
 * @param group name of what is leased and evicted together; empty for none
 */
public record PutOptions(
        int replicas,
        Optional<String> preferredNode,
        boolean upsert,
        Optional<Duration> softPin,
        boolean hardPin,
        String group) {
    /** {@code KV_PIN_SOFT} and {@code KV_PIN_HARD}. */
    static final int PIN_SOFT = 1;

    static final int PIN_HARD = 2;

    /** {@code KV_SOFT_PIN_MS_MAX}. */
    static final int SOFT_PIN_MS_MAX = 86_400_000;

    /** Every default: an existing object stays, nothing is pinned. */
    public static final PutOptions DEFAULT = new PutOptions(0, Optional.empty(), false, Optional.empty(), false, "");

    public PutOptions {
        if (softPin.isPresent() && (softPin.get().isNegative() || softPin.get().toMillis() > SOFT_PIN_MS_MAX)) {
            throw Arguments.invalid("soft pin is not between 0 and 24 h: " + softPin.get());
        }
    }

    public PutOptions withUpsert() {
        return new PutOptions(replicas, preferredNode, true, softPin, hardPin, group);
    }

    public PutOptions withReplicas(int number) {
        return new PutOptions(number, preferredNode, upsert, softPin, hardPin, group);
    }

    public PutOptions withSoftPin(Duration time) {
        return new PutOptions(replicas, preferredNode, upsert, Optional.of(time), hardPin, group);
    }

    public PutOptions withHardPin() {
        return new PutOptions(replicas, preferredNode, upsert, softPin, true, group);
    }

    public PutOptions withGroup(String name) {
        return new PutOptions(replicas, preferredNode, upsert, softPin, hardPin, name);
    }

    void writeTo(Struct options) {
        options.u32("flags", upsert ? OpCode.FLAG_UPSERT : 0)
                .u32("replicas", replicas)
                .text("nodes", Arguments.text("preferred node", preferredNode.orElse(null)))
                .u32("pins", (softPin.isPresent() ? PIN_SOFT : 0) | (hardPin ? PIN_HARD : 0))
                .u32("soft_pin_ms", (int) softPin.orElse(Duration.ZERO).toMillis());
    }
}
