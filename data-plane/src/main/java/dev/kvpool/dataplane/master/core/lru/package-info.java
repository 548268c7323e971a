// SPDX-License-Identifier: Apache-2.0
/**
 * In which order objects are evicted, and how that order adapts to what is asked for: pure, on numbers of objects and keys. It knows
 * nothing of what they are or where they lie.
 */
package dev.kvpool.dataplane.master.core.lru;
