// SPDX-License-Identifier: Apache-2.0
/**
 * Files that a master follows: the rules of the cache and the expected nodes, read, checked and read again when they change.
 */
package dev.kvpool.dataplane.master.file;
