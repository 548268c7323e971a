// SPDX-License-Identifier: Apache-2.0
/**
 * How full a storage node is and may get, in memory and on its SSD: what new objects may take, what writers want and do not find, and when
 * eviction begins. It knows sums, not objects.
 */
package dev.kvpool.dataplane.master.core.room;
