// SPDX-License-Identifier: Apache-2.0
/** How much memory the pods of a pool need, with the sum that says why. Pure; the figures are those of docs/internals/measured.md. */
package dev.kvpool.operator.pool.sizing;
