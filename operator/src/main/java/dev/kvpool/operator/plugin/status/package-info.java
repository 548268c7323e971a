// SPDX-License-Identifier: Apache-2.0
/** {@code status}: what a pool is like now. It may use {@code cluster} and {@code output}. */
package dev.kvpool.operator.plugin.status;
