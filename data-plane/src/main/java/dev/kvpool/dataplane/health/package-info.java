// SPDX-License-Identifier: Apache-2.0
/**
 * How a process knows whether the one thread that everything depends on still turns, and what it does when its own state is
 * broken. Knows none of the processes; they say what is watched and what ends them.
 */
package dev.kvpool.dataplane.health;
