// SPDX-License-Identifier: Apache-2.0
/**
 * Who is heard: heartbeats, nodes that say the leader is silent, and for how long a leader may be sure that no other follows it. It may
 * use {@code register} and what is below it.
 */
package dev.kvpool.dataplane.master.core.liveness;
