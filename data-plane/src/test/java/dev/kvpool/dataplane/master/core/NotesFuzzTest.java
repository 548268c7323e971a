// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.fuzz.FuzzRuns;
import dev.kvpool.dataplane.master.core.DrainNote.Stage;
import dev.kvpool.dataplane.wire.message.Key;
import java.util.List;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;

/** Keys in the directories of nodes that look like notes of leaders; as {@link FuzzRuns} says. */
class NotesFuzzTest {
    @Test
    void aKeyIsANoteOrNone() {
        DrainNote note = new DrainNote("node-0 of two words", -5, Stage.DRAINED, 1_700_000_000_000L, 60_000, 7, 8);
        DrainNote other = new DrainNote("n", 5, Stage.TIMED_OUT, -1, 0, Long.MAX_VALUE, 0);
        List<byte[]> samples = List.of(
                note.key().bytes(),
                other.key().bytes(),
                EnrolmentKey.of("node-1").bytes(),
                Key.of("ключ").bytes());

        int count = new FuzzRuns(samples, NoSuchElementException.class).oneOf(2).run(input -> {
            Key key = Key.of(input);
            key.isValid();
            if (EnrolmentKey.isOne(key)) {
                EnrolmentKey.nodeId(key);
                return;
            }
            if (!NoteKey.DRAIN.is(key)) {
                throw new NoSuchElementException("as it should be");
            }
            DrainNote read = DrainNote.read(key).orElseThrow();
            if (!DrainNote.read(read.key()).orElseThrow().equals(read)) {
                throw new AssertionError(read + " is not read as itself");
            }
        });

        assertThat(count).isPositive();
    }
}
