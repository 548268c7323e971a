// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.health;

/** Told when a process finds its own state broken. What it still knows must not be relied on from then on. */
@FunctionalInterface
public interface Defects {
    /**
     * Safe to call from any thread.
     *
     * @param what a sentence about what happened
     * @param cause with the place in the code
     */
    void found(String what, Throwable cause);
}
