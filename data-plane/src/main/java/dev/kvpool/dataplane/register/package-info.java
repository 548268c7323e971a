// SPDX-License-Identifier: Apache-2.0
/**
 * The register: the few facts about a pool that no single storage node may own. It is kept beside the leadership, in the Lease, and
 * changed by the leader alone, by compare-and-swap. {@link dev.kvpool.dataplane.register.Register} is a value, and its changes are
 * functions; {@link dev.kvpool.dataplane.register.RegisterText} is how it is written. Nothing here knows a clock, a thread or I/O.
 */
package dev.kvpool.dataplane.register;
