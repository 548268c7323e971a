// SPDX-License-Identifier: Apache-2.0
/**
 * Memory for millions of small records: blocks in pages of bytes, named by 32-bit numbers, and hash tables that run through
 * them. It knows nothing of what the records mean. One thread uses it.
 */
package dev.kvpool.dataplane.master.core.slab;
