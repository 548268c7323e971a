// SPDX-License-Identifier: Apache-2.0
/**
 * The masters and storage nodes of a pool as they are now: where they are, what the leader says of them, which are on cordoned Kubernetes
 * nodes, and which masters know enough to lead. Pure, and knows nothing of what is to happen to them.
 */
package dev.kvpool.operator.pool.member;
