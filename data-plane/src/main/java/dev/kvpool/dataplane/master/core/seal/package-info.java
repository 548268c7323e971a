// SPDX-License-Identifier: Apache-2.0
/**
 * What makes a grant the leader's: the secret of a term, what each storage node is told of it, and the MACs by which that node knows its
 * grants. It knows messages only.
 */
package dev.kvpool.dataplane.master.core.seal;
