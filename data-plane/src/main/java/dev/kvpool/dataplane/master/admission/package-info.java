// SPDX-License-Identifier: Apache-2.0
/**
 * Who may come in at a master's data port: plain or TLS by the first bytes, the handshake and its bounds, and what the name of a peer allows
 * it. Written by the event loop of the port; the core knows nothing of it.
 */
package dev.kvpool.dataplane.master.admission;
