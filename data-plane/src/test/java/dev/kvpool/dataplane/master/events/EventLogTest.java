// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventLogTest {
    private static final Authority SEVENTH = new Authority(7, 0xabc);

    private final EventLog log = new EventLog(4);

    private void append(int count) {
        for (int i = 0; i < count; i++) {
            log.append(new Change.Node("n" + i, true));
        }
    }

    private static Position at(long sequence) {
        return new Position(SEVENTH, sequence);
    }

    @ParameterizedTest
    @CsvSource({"0, 0, true", "0, 1, false", "3, 0, true", "3, 3, true", "3, 4, false", "6, 1, false", "6, 2, true"})
    void whatFollowsAPlaceIsKnownWhileNothingOfItIsOverwritten(int appended, long after, boolean known) {
        log.begin(SEVENTH);
        append(appended);

        assertThat(log.follows(at(after))).isEqualTo(known);
        assertThat(log.follows(new Position(new Authority(7, 0xabd), after)))
                .as("of another holder")
                .isFalse();
        assertThat(log.end(SEVENTH)).isEqualTo(at(appended));
    }

    @Test
    void changesAreReadInOrderAndAtMostSoMany() throws Exception {
        log.begin(SEVENTH);
        append(3);

        assertThat(log.await(at(1), 1, 0).orElseThrow().changes()).containsExactly(new Change.Node("n1", true));
        assertThat(log.await(at(0), 9, 0).orElseThrow().changes()).hasSize(3);
        assertThat(log.await(at(3), 9, 1).orElseThrow().changes()).isEmpty();
    }

    @Test
    void whoFallsBehindIsTold() throws Exception {
        log.begin(SEVENTH);
        append(6);

        assertThat(log.await(at(2), 9, 0).orElseThrow().changes()).hasSize(4);
        assertThatThrownBy(() -> log.await(at(0), 9, 0))
                .isInstanceOf(FellBehindException.class)
                .hasMessage("2 changes were not read in time");
    }

    @Test
    void theEndOfALeadershipWakesReaders() throws Exception {
        log.begin(SEVENTH);
        Thread ending = Thread.ofVirtual().start(log::end);

        assertThat(log.await(at(0), 9, 60_000)).isEmpty();
        ending.join();
        assertThat(log.isOpenFor(SEVENTH)).isFalse();
    }

    @Test
    void whatWasMissedWithoutReadersIsNoPlaceToGoOnFrom() throws Exception {
        log.begin(SEVENTH);
        append(2);
        log.end();
        log.begin(SEVENTH);

        assertThat(log.follows(at(2))).isFalse();
        assertThat(log.follows(at(3))).isTrue();
        log.begin(SEVENTH);
        assertThat(log.end(SEVENTH)).as("begun twice").isEqualTo(at(3));
        append(1);
        assertThat(log.await(at(3), 9, 0).orElseThrow().changes()).isEqualTo(List.of(new Change.Node("n0", true)));
    }

    @Test
    void aPositionIsReadAsItIsWritten() {
        Position position = new Position(new Authority(12, -1), 1042);

        assertThat(position).hasToString("12.ffffffffffffffff.1042");
        assertThat(Position.parse(position.toString())).isEqualTo(position);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "12", "12.ffffffffffffffff", "12.ff.3", "-1.ffffffffffffffff.3", "1.ffffffffffffffff.3 "})
    void whatIsNoPositionIsRefused(String text) {
        assertThatThrownBy(() -> Position.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("EPOCH.NONCE.SEQUENCE");
    }
}
