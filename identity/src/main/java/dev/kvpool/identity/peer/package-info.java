// SPDX-License-Identifier: Apache-2.0
/** Who is at the other end of a TLS connection, and why a peer is refused. What a peer may do is for the process to say that is asked. */
package dev.kvpool.identity.peer;
