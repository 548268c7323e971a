// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.GrantRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.HintRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.TaskQuery;
import dev.kvpool.identity.name.Access;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.wire.Actor;
import dev.kvpool.wire.Verb;

/** What a peer may do, by the table of native/schema/rights.txt. */
public final class Rights {
    private Rights() {}

    /** Whether a peer of this name may do it. */
    public static boolean allow(PeerName peer, Verb verb) {
        return verb.isOf(actor(peer));
    }

    private static Actor actor(PeerName peer) {
        return switch (peer.role()) {
            case TENANT -> peer.access() == Access.READ ? Actor.READER : Actor.WRITER;
            case AGENT -> Actor.AGENT;
            case ADMIN -> Actor.ADMIN;
            case OPERATOR -> Actor.OPERATOR;
            case MONITOR -> Actor.MONITOR;
            case NODE -> Actor.NODE;
            case MASTER -> Actor.MASTER;
        };
    }

    /** The verb of a client's request. */
    public static Verb of(ClientRequest request) {
        return switch (request) {
            case LookupRequest _, ExistsRequest _, TaskQuery _ -> Verb.LOOK_UP;
            case GrantRequest _, PublishRequest _, RemoveRequest _, RemoveAllRequest _, HintRequest _, CopyRequest _ ->
                Verb.WRITE;
        };
    }
}
