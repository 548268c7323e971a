// SPDX-License-Identifier: Apache-2.0
/** What is seen of a pool: its pods, Jobs, leadership, machines, and the settings of the operator. Records only. */
package dev.kvpool.operator.pool.observation;
