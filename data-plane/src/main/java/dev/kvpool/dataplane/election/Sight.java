// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

/**
 * What a candidate knows of its pool and of itself at this moment.
 *
 * @param highestEpoch the highest epoch any node has told of; 0 for none
 * @param enough whether at least half of the expected nodes are connected: with fewer it would lead a pool that it cannot see,
 *     while another candidate may see all of it
 * @param coreTurns whether the core of this master has done a turn a moment ago: one that hangs must neither lead nor go on leading
 */
public record Sight(long highestEpoch, boolean enough, boolean coreTurns) {}
