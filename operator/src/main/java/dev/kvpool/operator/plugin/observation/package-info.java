// SPDX-License-Identifier: Apache-2.0
/** What commands see of a pool: who leads, where its pods say what they know, and excerpts of what the API server writes. */
package dev.kvpool.operator.plugin.observation;
