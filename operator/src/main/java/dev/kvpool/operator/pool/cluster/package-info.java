// SPDX-License-Identifier: Apache-2.0
/** The one place that reads from and writes to the API server for pools. */
package dev.kvpool.operator.pool.cluster;
