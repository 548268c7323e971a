// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import java.util.Locale;

/**
 * What a leader does with objects of a node that was away while something was removed or replaced, when no witness is available to tell what
 * that was: all witnesses are away, and the leader that knew as well is gone.
 */
public enum Consistency {
    /**
     * They are unavailable, and removals wait, until a witness is back or a person forgets the node. What was removed or replaced is never
     * read again. The default: an engine that gets a miss computes again, one that gets what was removed, say after its weights changed,
     * answers wrongly.
     */
    STRICT,
    /**
     * They are served, and removals go on with new witnesses. Right where a key is a hash of all that its value depends on: then a value
     * cannot be out of date, and what was removed only to make room does no harm when it is seen again.
     */
    AVAILABLE;

    /** By its name in settings. */
    public static Consistency of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }

    /** Its name in settings. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
