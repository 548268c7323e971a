// SPDX-License-Identifier: Apache-2.0
/**
 * Who leads: a leadership Lease, held by one master at a time, whose transitions are the epoch. {@link
 * dev.kvpool.dataplane.election.Election} decides and is pure; {@link dev.kvpool.dataplane.election.Elector} runs it against a
 * {@link dev.kvpool.dataplane.election.LeaseStore}: a Lease object of Kubernetes, or a file with the same fields.
 */
package dev.kvpool.dataplane.election;
