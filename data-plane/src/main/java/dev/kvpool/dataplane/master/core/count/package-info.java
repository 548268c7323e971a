// SPDX-License-Identifier: Apache-2.0
/** Counts of more than one number: how requests were answered, and values in buckets. Knows nothing of who counts, or of objects and nodes. */
package dev.kvpool.dataplane.master.core.count;
