// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

/** How many peers of a port have not said yet who they are. Used on the event loop only. */
final class OpenHandshakes {
    /** More are turned away at once: each holds memory, and a thread has to work for it. */
    static final int MAX = 512;

    private int open;

    /** Whether one more may begin; each that did must be ended once. */
    boolean begin() {
        if (open == MAX) {
            return false;
        }
        open++;
        return true;
    }

    void end() {
        open--;
    }
}
