// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Streams of a core that serves an empty pool; the test says what it tells. */
class EventStreamTest {
    private static final Authority SEVENTH = new Authority(7, 0xabc);
    private static final Change CHANGE = new Change.Node("a", true);

    private final MasterCore core = new MasterCore(
            PlainSettings.of("m", 10_000, 0.9, 0.8, 1, 30_000, 1 << 28), Set.of(), new Random(1), new Random(1));
    private long nowMs = 1_000_000;
    private boolean leads = true;

    /** What happens on the event loop before it answers the next question. */
    private Runnable before = () -> {};

    private final CoreTurns turns = new CoreTurns() {
        @Override
        public <T> CompletableFuture<T> ask(Function<MasterCore, T> question) {
            before.run();
            return CompletableFuture.completedFuture(question.apply(core));
        }
    };
    private final EventStreams streams = new EventStreams(turns, () -> leads, () -> nowMs, 4);

    @BeforeEach
    void serve() {
        core.lead(SEVENTH, Long.MAX_VALUE, nowMs + 5_000, Register.NONE, nowMs);
        for (int i = 0; i < 4; i++) {
            nowMs += 10_000;
            core.tick(nowMs);
        }
    }

    private EventStream open(String after) {
        return streams.open(Subscriber.OF_ALL, after.isEmpty() ? Optional.empty() : Optional.of(Position.parse(after)))
                .join()
                .orElseThrow();
    }

    private static List<String> read(EventStream stream) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        stream.writeTo(out);
        return out.toString(UTF_8)
                .lines()
                .map(line -> line.replaceAll(".*\"event\":\"([^\"]*)\".*?(\\.[0-9]+\"|$).*", "$1$2")
                        .replace("\"", ""))
                .toList();
    }

    private void tell(int changes) {
        for (int i = 0; i < changes; i++) {
            streams.heard(List.of(new Action.Changed(CHANGE)));
        }
    }

    @Test
    void aStreamBeginsWithASnapshotAndEndsWithTheLeadership() throws Exception {
        EventStream stream = open("");
        tell(2);
        before = () -> {
            tell(1);
            before = () -> {};
        };
        leads = false;

        assertThat(read(stream)).containsExactly("snapshot-begin.3", "snapshot-end.3", "bye");
        assertThat(streams.snapshots()).isEqualTo(1);
        assertThat(streams.subscribers()).isZero();
    }

    @Test
    void changesDuringASnapshotStandBetweenItsParts() throws Exception {
        EventStream stream = open("");
        int[] turn = {0};
        before = () -> {
            turn[0]++;
            if (turn[0] == 2) {
                tell(2);
            }
        };
        leads = false;

        assertThat(read(stream)).containsExactly("snapshot-begin.0", "node.1", "node.2", "snapshot-end.2", "bye");
    }

    @Test
    void whoComesBackGoesOnWhereItWas() throws Exception {
        open("");
        tell(3);
        EventStream stream = open("7.0000000000000abc.2");
        leads = false;

        assertThat(read(stream)).containsExactly("resumed.2", "bye");
        assertThat(read(open("7.0000000000000abc.9")).getFirst()).isEqualTo("snapshot-begin.3");
    }

    @Test
    void aSlowReaderIsToldSoAndCut() throws Exception {
        open("");
        EventStream stream = open("7.0000000000000abc.0");
        tell(5);

        assertThat(read(stream)).containsExactly("resumed.0", "bye");
        assertThat(streams.cut()).isEqualTo(1);
    }

    @Test
    void theEndOfTheLeadershipEndsStreams() throws Exception {
        EventStream stream = open("");
        tell(1);
        streams.heard(List.of(new Action.Changed(new Change.Ended())));
        tell(1);

        assertThat(read(stream)).containsExactly("bye");
    }

    @Test
    void placesAreBounded() throws Exception {
        List<SubscriberPlaces.Place> places = new ArrayList<>();
        for (int i = 0; i < SubscriberPlaces.MAX; i++) {
            places.add(streams.enter(Subscriber.OF_ALL).orElseThrow());
        }

        assertThat(streams.isFull(Subscriber.OF_ALL)).isTrue();
        assertThat(read(open(""))).containsExactly("bye");
        assertThat(streams.subscribers()).isEqualTo(SubscriberPlaces.MAX);
        streams.leave(places.getFirst());
        assertThat(streams.isFull(Subscriber.OF_ALL)).isFalse();
    }

    @Test
    void aMinuteAfterTheLastReaderNothingIsToldAnyMore() {
        open("");
        nowMs += EventStreams.KEPT_WITHOUT_READER_MS;
        tell(1);
        assertThat(streams.log().isOpenFor(SEVENTH)).isTrue();
        nowMs += 1;
        tell(1);

        assertThat(streams.log().isOpenFor(SEVENTH)).isFalse();
        open("7.0000000000000abc.2");
        assertThat(streams.log().follows(new Position(SEVENTH, 2))).isFalse();
    }
}
