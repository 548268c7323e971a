// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

/**
 * What a candidate learns of its pool from the storage nodes that are connected to it.
 *
 * @param highestEpoch the highest epoch any node has told of; 0 for none
 * @param enough whether at least half of the expected nodes are connected: with fewer it would lead a pool that it cannot see,
 *     while another candidate may see all of it
 */
public record Sight(long highestEpoch, boolean enough) {}
