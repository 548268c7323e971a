// SPDX-License-Identifier: Apache-2.0
/** How the master speaks: frames over Netty, and the handshake at the start of every connection. */
package dev.kvpool.dataplane.wire;
