// SPDX-License-Identifier: Apache-2.0
/** What a pool loses when a storage node is given up ({@code forget}). */
package dev.kvpool.operator.plugin.forget;
