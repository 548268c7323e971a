// SPDX-License-Identifier: Apache-2.0
/** What a pool is like now ({@code status}). */
package dev.kvpool.operator.plugin.status;
