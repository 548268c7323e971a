// SPDX-License-Identifier: Apache-2.0
/** Runs the plugin's commands once without a cluster, for the start-up cache of its archive. Nothing else uses it. */
package dev.kvpool.operator.plugin.rehearsal;
