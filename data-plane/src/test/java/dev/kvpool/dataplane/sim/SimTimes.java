// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.election.ElectionTimes;

/** The times a pool runs with. */
record SimTimes(ElectionTimes election, long objectLeaseMs, long repairDelayMs) {}
