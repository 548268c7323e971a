// SPDX-License-Identifier: Apache-2.0
/** Whether a key is in a pool, and if not, why ({@code why}). */
package dev.kvpool.operator.plugin.why;
