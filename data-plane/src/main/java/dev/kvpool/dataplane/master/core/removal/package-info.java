// SPDX-License-Identifier: Apache-2.0
/**
 * Removals and what makes them last: tombstones at witnesses, nodes that catch up, and members that come and go. It may use
 * {@code replication} and what is below it.
 */
package dev.kvpool.dataplane.master.core.removal;
