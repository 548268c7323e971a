// SPDX-License-Identifier: Apache-2.0
/**
 * What a leader does of itself while it serves: it assembles the rooms from {@code replication} to {@code eviction}, and has nodes
 * write the pool's versions.
 */
package dev.kvpool.dataplane.master.core.upkeep;
