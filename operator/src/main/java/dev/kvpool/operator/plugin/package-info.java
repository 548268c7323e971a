// SPDX-License-Identifier: Apache-2.0
/**
 * {@code kubectl kvpool}: the entry point, which assembles the commands. A package for each idea; they depend one way, as
 * {@code ArchitectureTest} says.
 */
package dev.kvpool.operator.plugin;
