// SPDX-License-Identifier: Apache-2.0
/** The messages of {@code native/schema/kvpool.xml} as values, free of buffers: what the protocol cores take and give. */
package dev.kvpool.dataplane.wire.message;
