// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

/** What a node shows next has no room in the index of this master. Nothing of it has been applied. */
final class IndexFullException extends Exception {
    IndexFullException(String message) {
        super(message);
    }
}
