// SPDX-License-Identifier: Apache-2.0
/** Durations as resources spell them. */
package dev.kvpool.operator.duration;
