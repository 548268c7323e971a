// SPDX-License-Identifier: Apache-2.0
/**
 * What the pool keeps beside its leadership: members, nodes that are behind, witnesses, SSDs that failed, and what may be believed of
 * nodes. It may use {@code membership} and what is below it; nothing in here talks to a node.
 */
package dev.kvpool.dataplane.master.core.register;
