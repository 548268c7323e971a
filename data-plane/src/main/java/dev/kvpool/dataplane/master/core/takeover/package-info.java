// SPDX-License-Identifier: Apache-2.0
/**
 * From holding the Lease to serving, and back: fencing the nodes, waiting until what was committed before is in view. It does not know
 * clients' requests.
 */
package dev.kvpool.dataplane.master.core.takeover;
