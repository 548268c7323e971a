// SPDX-License-Identifier: Apache-2.0
/** What is taken out of a support bundle ({@code report}). */
package dev.kvpool.operator.plugin.report;
