// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

/** Something the leader is told now. Telling it twice does no more than telling it once. */
public sealed interface DrainAction {
    /** Id of the storage node it is about. */
    String node();

    /** Empty it. */
    record Empty(String node) implements DrainAction {}

    /** Let it take part again. */
    record Cancel(String node) implements DrainAction {}
}
