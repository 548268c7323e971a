// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

/** Says why, in parentheses, after what is so. */
public final class Parentheses {
    private Parentheses() {}

    /**
     * A reason with a blank before it.
     *
     * @param why may be null or empty, and nothing is said then
     */
    public static String of(String why) {
        return why == null || why.isEmpty() ? "" : " (" + why + ")";
    }
}
