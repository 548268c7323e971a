// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.nativelib.Status;

/** What a reader's question about one key comes to, what it is counted as, and what a lookup of the key answers. */
public enum Finding {
    FOUND(Count.LOOKUP_HITS, Count.EXISTS_HITS, Status.OK),
    NEVER_PUT(Count.LOOKUP_NEVER_PUT, Count.EXISTS_NEVER_PUT, Status.NOT_FOUND),
    EVICTED(Count.LOOKUP_EVICTED, Count.EXISTS_EVICTED, Status.NOT_FOUND),
    REMOVED(Count.LOOKUP_REMOVED, Count.EXISTS_REMOVED, Status.NOT_FOUND),
    /** The nodes that held it came back without it, or ended. */
    LOST(Count.LOOKUP_LOST, Count.EXISTS_LOST, Status.NOT_FOUND),
    UNAVAILABLE(Count.LOOKUP_UNAVAILABLE, Count.EXISTS_UNAVAILABLE, Status.UNAVAILABLE),
    /** Nodes whose version does not fit are refused, and what only they hold is missed for that reason. */
    VERSION(Count.LOOKUP_VERSION, Count.EXISTS_VERSION, Status.UNAVAILABLE),
    INVALID(Count.LOOKUP_INVALID, Count.EXISTS_INVALID, Status.INVALID_KEY);

    public final Count ofLookup;
    public final Count ofExists;
    public final Status status;

    Finding(Count ofLookup, Count ofExists, Status status) {
        this.ofLookup = ofLookup;
        this.ofExists = ofExists;
        this.status = status;
    }
}
