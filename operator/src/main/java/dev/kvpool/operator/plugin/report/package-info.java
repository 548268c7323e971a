// SPDX-License-Identifier: Apache-2.0
/** {@code report}: a support bundle, without secrets. It may use {@code status}, {@code plan} and what is below them. */
package dev.kvpool.operator.plugin.report;
