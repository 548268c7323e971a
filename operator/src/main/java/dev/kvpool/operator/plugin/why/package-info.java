// SPDX-License-Identifier: Apache-2.0
/** {@code why}: whether a key is in a pool, and if not, why. It may use {@code cluster} and {@code output}. */
package dev.kvpool.operator.plugin.why;
