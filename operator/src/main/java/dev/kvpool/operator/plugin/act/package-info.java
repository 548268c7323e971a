// SPDX-License-Identifier: Apache-2.0
/** Commands that change something. They may use {@code cluster} and {@code output}. */
package dev.kvpool.operator.plugin.act;
