// SPDX-License-Identifier: Apache-2.0
/** {@code plan}: what the operator would do, by its own planning. It may use {@code cluster} and {@code output}. */
package dev.kvpool.operator.plugin.plan;
