// SPDX-License-Identifier: Apache-2.0
/**
 * Room: what leaves the memory and the SSDs of nodes, and what is kept free for the next leader. It may use {@code removal},
 * {@code replication} and what is below them.
 */
package dev.kvpool.dataplane.master.core.eviction;
