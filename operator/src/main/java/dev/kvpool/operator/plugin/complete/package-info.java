// SPDX-License-Identifier: Apache-2.0
/** Completion in the shell. It may use {@code cluster}. */
package dev.kvpool.operator.plugin.complete;
