// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

/**
 * A storage node that the spec does not want any more, and whose pod is there.
 *
 * @param node its id
 * @param holdsBytes false when its pod never ran, or is being deleted, and its bytes with it: then nothing can be moved
 */
public record Departure(String node, boolean holdsBytes) {}
