// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Key;
import java.util.Optional;

/**
 * What the expected nodes keep about the emptying of a node, so that it goes on under whoever leads. Of several about one node
 * the one with the highest id counts.
 *
 * @param incarnation of the process that is to be emptied
 * @param startedAtMs when it was asked for, as the one who asked said
 * @param leftMs how much time there was left for it when this was written: clocks of machines differ, so no moment is
 */
record DrainNote(
        String node, long incarnation, Stage stage, long startedAtMs, long leftMs, long objectsMoved, long bytesMoved) {
    /** How far it was. */
    enum Stage {
        DRAINING,
        DRAINED,
        TIMED_OUT,
        /** The node takes part as before: what older notes say counts no more. */
        OVER
    }

    private static final int FIELDS = 7;

    Key key() {
        return NoteKey.DRAIN.of(String.join(
                " ",
                stage.name(),
                Long.toHexString(incarnation),
                Long.toString(startedAtMs),
                Long.toString(leftMs),
                Long.toString(objectsMoved),
                Long.toString(bytesMoved),
                node));
    }

    /** What a key of this kind says; empty when this version does not understand it. */
    static Optional<DrainNote> read(Key key) {
        String[] fields = NoteKey.DRAIN.what(key).split(" ", FIELDS);
        if (fields.length < FIELDS || fields[FIELDS - 1].isEmpty()) {
            return Optional.empty();
        }
        try {
            DrainNote note = new DrainNote(
                    fields[6],
                    Long.parseUnsignedLong(fields[1], 16),
                    Stage.valueOf(fields[0]),
                    Long.parseLong(fields[2]),
                    Long.parseLong(fields[3]),
                    Long.parseLong(fields[4]),
                    Long.parseLong(fields[5]));
            boolean sound = note.leftMs >= 0 && note.objectsMoved >= 0 && note.bytesMoved >= 0;
            return sound ? Optional.of(note) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
