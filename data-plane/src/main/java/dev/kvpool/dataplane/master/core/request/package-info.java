// SPDX-License-Identifier: Apache-2.0
/**
 * What clients ask for: grants, publishes, lookups, hints and removals, each answered or refused here. It may use all rooms below it but
 * {@code takeover}.
 */
package dev.kvpool.dataplane.master.core.request;
