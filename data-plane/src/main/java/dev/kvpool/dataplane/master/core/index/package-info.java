// SPDX-License-Identifier: Apache-2.0
/**
 * What the nodes show: the objects, replicas and tombstones of every node's stream, and what is known of each node. Only this room
 * writes them; the other rooms read, and decide through {@code Index} and the methods of {@code NodeView}. It uses {@code slab},
 * {@code tenant}, {@code lru}, {@code seal}, {@code base} and {@code plan}.
 */
package dev.kvpool.dataplane.master.core.index;
