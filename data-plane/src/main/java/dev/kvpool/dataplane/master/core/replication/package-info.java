// SPDX-License-Identifier: Apache-2.0
/**
 * Copies between nodes: repair, drains, promotion from an SSD. It plans with {@code plan}, and may use {@code reconciliation} and what
 * is below it.
 */
package dev.kvpool.dataplane.master.core.replication;
