// SPDX-License-Identifier: Apache-2.0
/**
 * Storage nodes that are to go, from the wish to the end or back: a pure decision from what the status says and what is seen
 * now to what the status shall say, what is done at once, and which nodes may go.
 */
package dev.kvpool.operator.pool.drain;
