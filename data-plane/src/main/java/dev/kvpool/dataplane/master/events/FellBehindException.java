// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

/** A subscriber reads so slowly that changes it has not seen were overwritten. */
final class FellBehindException extends Exception {
    private static final long serialVersionUID = 1;

    FellBehindException(long changes) {
        super(changes + " changes were not read in time");
    }
}
