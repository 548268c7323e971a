// SPDX-License-Identifier: Apache-2.0
/**
 * What the outside may know: the status of the pool as a value, drawn up from the other rooms, which do not know it.
 */
package dev.kvpool.dataplane.master.core.report;
