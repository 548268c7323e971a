// SPDX-License-Identifier: Apache-2.0
/** Publishes events to the API server. What there is to tell is decided before. */
package dev.kvpool.operator.event.recorder;
