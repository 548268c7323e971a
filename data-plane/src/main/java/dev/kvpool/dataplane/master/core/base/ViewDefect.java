// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import java.util.List;
import java.util.OptionalLong;

/**
 * The core has thrown over what nodes told or a client asked, so its view may be half changed and must not be used any more: {@link
 * MasterCore#withoutView} makes one that begins again. Over the same record or request the next core would throw too, so whose it is
 * stays out for a while.
 */
public final class ViewDefect extends RuntimeException {
    private final transient List<NodePeer> nodes;
    private final transient OptionalLong client;

    private ViewDefect(List<NodePeer> nodes, OptionalLong client, String over, Throwable cause) {
        super("the core has thrown over " + over + ": " + cause, cause);
        this.nodes = nodes;
        this.client = client;
    }

    /** While it applied what one node told. */
    public static ViewDefect overNode(NodePeer node, Throwable cause) {
        return new ViewDefect(List.of(node), OptionalLong.empty(), "what " + node + " told", cause);
    }

    /** While time went by, and after it had looked at an object last that these nodes have shown. */
    public static ViewDefect overObject(List<NodePeer> holders, Throwable cause) {
        return new ViewDefect(holders, OptionalLong.empty(), "an object that is on " + holders, cause);
    }

    /** While it answered a request of the client of this session. */
    public static ViewDefect overClient(long session, Throwable cause) {
        return new ViewDefect(List.of(), OptionalLong.of(session), "what a client asked", cause);
    }

    /** While it did what was asked of it over HTTP. */
    public static ViewDefect overRequest(Throwable cause) {
        return new ViewDefect(List.of(), OptionalLong.empty(), "a request of the admin endpoint", cause);
    }

    /** Whose records it may have been. */
    public List<NodePeer> nodes() {
        return nodes;
    }

    /** The session of the client whose request it was. */
    public OptionalLong client() {
        return client;
    }
}
