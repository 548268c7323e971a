// SPDX-License-Identifier: Apache-2.0
/**
 * What a leader has nodes do, and what it has promised: commands, frees, purges and grants. It may use {@code register} and what is
 * below it, and decides about no object by itself.
 */
package dev.kvpool.dataplane.master.core.command;
