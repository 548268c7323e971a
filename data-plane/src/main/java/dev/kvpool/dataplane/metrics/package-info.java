// SPDX-License-Identifier: Apache-2.0
/** What masters, nodes and agents count, for Prometheus. */
package dev.kvpool.dataplane.metrics;
