// SPDX-License-Identifier: Apache-2.0
/**
 * Streams of what changes for readers: a bounded log of the latest changes, and for each subscriber a way through it. Written by the event loop
 * of the core, read by one thread a subscriber. It knows nothing of HTTP.
 */
package dev.kvpool.dataplane.master.events;
