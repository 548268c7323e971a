// SPDX-License-Identifier: Apache-2.0
/** The commands: what each asks of {@code cluster}, has the rooms before it decide, and prints. */
package dev.kvpool.operator.plugin.command;
