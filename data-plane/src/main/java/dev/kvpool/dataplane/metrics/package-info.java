// SPDX-License-Identifier: Apache-2.0
/** The numbers of a master for Prometheus. */
package dev.kvpool.dataplane.metrics;
