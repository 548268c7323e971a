// SPDX-License-Identifier: Apache-2.0
/**
 * Reconciliation: what becomes of objects that no client published under this epoch, and of nodes that join, a bounded part at a
 * time. It may use {@code command} and what is below it.
 */
package dev.kvpool.dataplane.master.core.reconciliation;
