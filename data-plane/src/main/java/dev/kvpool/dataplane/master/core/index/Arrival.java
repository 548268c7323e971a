// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import java.util.OptionalLong;

/** How far the directory of a node has come on its connection: a snapshot, which is compared with what was known, and changes in order. */
final class Arrival {
    private enum Stage {
        NOT_BEGUN,
        SNAPSHOT,
        /** The snapshot is here, and what that did not hold is being forgotten. */
        COMPARING,
        WHOLE
    }

    private Stage stage = Stage.NOT_BEGUN;
    private long lines;
    private long nextSequence;

    /** What was published and found to be gone by comparing. */
    private long lost;

    /** A directory was here whole once, on whichever connection. */
    private boolean wasWhole;

    private OptionalLong lostAtReturn = OptionalLong.empty();

    /** The connection has ended, or another one begins. */
    void end() {
        stage = Stage.NOT_BEGUN;
        lostAtReturn = OptionalLong.empty();
    }

    void snapshotBegins(long sequence) {
        stage = Stage.SNAPSHOT;
        lines = 0;
        nextSequence = sequence + 1;
    }

    void linesCame(int count) {
        lines += count;
    }

    void changeCame() {
        nextSequence++;
    }

    void snapshotIsHere() {
        stage = Stage.COMPARING;
        lost = 0;
    }

    void foundGone(long published) {
        lost += published;
    }

    /**
     * All that the snapshot did not hold is forgotten.
     *
     * @param counts whether what is gone was there under this leader
     */
    void isWhole(boolean counts) {
        lostAtReturn = wasWhole && counts ? OptionalLong.of(lost) : OptionalLong.empty();
        stage = Stage.WHOLE;
        wasWhole = true;
    }

    /** Lines of the snapshot that have come. */
    long lines() {
        return lines;
    }

    long nextSequence() {
        return nextSequence;
    }

    /** The snapshot has begun on this connection: changes follow. */
    boolean hasBegun() {
        return stage != Stage.NOT_BEGUN;
    }

    boolean isInSnapshot() {
        return stage == Stage.SNAPSHOT;
    }

    boolean isComparing() {
        return stage == Stage.COMPARING;
    }

    boolean isWhole() {
        return stage == Stage.WHOLE;
    }

    boolean wasWhole() {
        return wasWhole;
    }

    /** How many replicas of published objects were gone as it came back; empty when that cannot be told. */
    OptionalLong lostAtReturn() {
        return lostAtReturn;
    }
}
