// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.metrics;

/** Who follows the changes of a master, now and since it started. */
public interface EventNumbers {
    int subscribers();

    long snapshots();

    /** Subscribers that were cut off because they did not read. */
    long cut();
}
