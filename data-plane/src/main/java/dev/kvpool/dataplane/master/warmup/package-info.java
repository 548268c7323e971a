// SPDX-License-Identifier: Apache-2.0
/**
 * A master's loop is exercised against nodes made up in its own process before it may lead, so that a takeover runs compiled code.
 */
package dev.kvpool.dataplane.master.warmup;
