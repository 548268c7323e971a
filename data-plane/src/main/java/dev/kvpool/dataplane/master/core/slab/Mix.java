// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.slab;

/** Spreads numbers that nobody chooses with ill intent, such as counters, over all hashes. */
public final class Mix {
    private Mix() {}

    /** The last step of splitmix64. */
    public static int of(long number) {
        long mixed = number;
        mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return (int) (mixed ^ (mixed >>> 31));
    }
}
