// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.wire.Role;

/**
 * A node or client that is connected to this master.
 *
 * @param name node id, or host name of the client
 * @param versions what it understands, as it said in its first message
 */
public record ConnectedPeer(Role role, String name, Versions versions) {}
