// SPDX-License-Identifier: Apache-2.0
/**
 * The vocabulary of the master's core: what it asks its surroundings to do, its settings and bounds, counters, the state of its
 * leadership, and who is connected. It knows nothing of nodes' objects, and uses {@code slab} for its limits, {@code tenant} and {@code count}.
 */
package dev.kvpool.dataplane.master.core.base;
