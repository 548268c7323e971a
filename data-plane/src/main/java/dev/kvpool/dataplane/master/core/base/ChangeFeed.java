// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import java.util.function.Consumer;

/** Tells changes while there is a subscriber. A caller asks {@link #isOpen} before it makes one, so that it costs nothing otherwise. */
public final class ChangeFeed {
    private Consumer<Change> heard = change -> {};
    private boolean open;

    /** Where changes go. */
    public void to(Consumer<Change> next) {
        heard = next;
    }

    public boolean isOpen() {
        return open;
    }

    /** To be called by a leader that serves. */
    public void open() {
        open = true;
    }

    /** There is no subscriber any more. */
    public void close() {
        open = false;
    }

    public void tell(Change change) {
        heard.accept(change);
    }

    /** The term is over; told before anything of it is undone. */
    public void endTerm() {
        if (open) {
            open = false;
            heard.accept(new Change.Ended());
        }
    }
}
