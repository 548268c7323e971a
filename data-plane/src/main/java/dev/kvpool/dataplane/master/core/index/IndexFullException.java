// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

/** What a node shows next has no room in the index of this master. Nothing of it has been applied. */
public final class IndexFullException extends Exception {
    IndexFullException(String message) {
        super(message);
    }
}
