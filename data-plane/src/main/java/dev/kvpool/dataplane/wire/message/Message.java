// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/** Everything that crosses a socket of the master. Encodings are in {@code dev.kvpool.dataplane.wire.codec}. */
public sealed interface Message permits HandshakeMessage, NodeMessage, NodeCommand, ClientRequest, ClientReply {}
