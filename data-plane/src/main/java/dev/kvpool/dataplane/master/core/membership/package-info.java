// SPDX-License-Identifier: Apache-2.0
/**
 * Who is there: expected and connected nodes, nodes that are set apart, and how gladly a node is chosen. {@code View}
 * is what a master knows, leader or standby. It may use {@code index} and what is below it.
 */
package dev.kvpool.dataplane.master.core.membership;
