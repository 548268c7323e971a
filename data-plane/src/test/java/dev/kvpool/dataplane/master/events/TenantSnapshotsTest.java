// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.TenantsPool;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Snapshots of a pool that several tenants have objects in. */
class TenantSnapshotsTest {
    private static final Tenant ONE = Tenant.of("one");
    private static final Tenant TWO = Tenant.of("two");

    /** Its name begins with that of another one. */
    private static final Tenant ONE_MORE = Tenant.of("one-more");

    private static final Map<Tenant, Integer> OBJECTS = Map.of(Tenant.DEFAULT, 700, ONE, 90, ONE_MORE, 1, TWO, 800);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final TenantsPool pool = new TenantsPool();

    /** What happens on the core's thread before it answers. */
    private Runnable before = () -> {};

    private final CoreTurns turns = new CoreTurns() {
        @Override
        public <T> CompletableFuture<T> ask(Function<MasterCore, T> question) {
            before.run();
            return CompletableFuture.completedFuture(question.apply(pool.core()));
        }
    };
    private final AtomicLong laterMs = new AtomicLong();

    /** Without, subscribers follow no changes behind their snapshot. */
    private boolean leads;

    private final EventStreams streams = new EventStreams(turns, () -> leads, () -> pool.nowMs() + laterMs.get());

    private void fill() {
        OBJECTS.forEach((tenant, count) -> pool.fill(tenant, nameOf(tenant), count));
        pool.onChange(change -> streams.heard(List.of(new Action.Changed(change))));
    }

    private static String nameOf(Tenant tenant) {
        return "of/" + tenant + "/";
    }

    private static Subscriber of(Tenant tenant) {
        return new Subscriber(Optional.of(tenant), Optional.of(tenant), Instant.MAX);
    }

    private EventStream open(Subscriber subscriber) {
        return streams.open(subscriber, Optional.empty()).join().orElseThrow();
    }

    private static List<JsonNode> read(EventStream stream) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        stream.writeTo(out);
        List<JsonNode> lines = new ArrayList<>();
        for (String line : out.toString(UTF_8).lines().toList()) {
            lines.add(JSON.readTree(line));
        }
        return lines;
    }

    /** Keys and copies, after all lines. */
    private static Map<String, String> heldAfter(List<JsonNode> lines) {
        Map<String, String> held = new HashMap<>();
        for (JsonNode line : lines) {
            switch (line.get("event").asText()) {
                case "object", "stored" ->
                    held.put(line.get("key").asText(), line.get("copies").toString());
                case "removed" -> held.remove(line.get("key").asText());
                default -> {}
            }
        }
        return held;
    }

    private static Set<String> keysOf(Tenant tenant, int from) {
        Set<String> keys = new TreeSet<>();
        for (int i = from; i < OBJECTS.get(tenant); i++) {
            keys.add(nameOf(tenant) + i);
        }
        return keys;
    }

    @Test
    void aTenantGetsItsObjectsAndNothingElseIsBuilt() throws Exception {
        fill();
        for (Tenant tenant : OBJECTS.keySet()) {
            var parts = pool.core().changes().parts(Optional.of(tenant));
            int built = 0;
            while (!parts.isDone()) {
                built += parts.next(100).size();
            }
            assertThat(built).as("built for %s", tenant).isEqualTo(OBJECTS.get(tenant));

            List<JsonNode> lines = read(open(of(tenant)));

            assertThat(lines.getFirst().get("nodes").toString()).isEqualTo("[\"a\",\"b\"]");
            assertThat(heldAfter(lines)).containsOnlyKeys(keysOf(tenant, 0));
            assertThat(heldAfter(lines).values()).allMatch(copies -> copies.contains("\"tier\":\"memory\""));
        }
        assertThat(heldAfter(read(open(Subscriber.OF_ALL))))
                .hasSize(OBJECTS.values().stream().mapToInt(it -> it).sum());
    }

    @Test
    void whatChangesBetweenPartsIsRightAtTheEnd() throws Exception {
        fill();
        EventStream stream = open(of(ONE));
        AtomicInteger turn = new AtomicInteger();
        before = () -> {
            int removed = turn.getAndIncrement();
            if (removed < 3) {
                pool.remove(ONE, nameOf(ONE) + removed);
                pool.remove(TWO, nameOf(TWO) + removed);
            }
        };

        List<JsonNode> lines = read(stream);

        assertThat(turn.get()).as("parts and the beginning").isGreaterThanOrEqualTo(3);
        assertThat(heldAfter(lines)).containsOnlyKeys(keysOf(ONE, 3));
        assertThat(lines.toString()).doesNotContain(nameOf(TWO));
    }

    @Test
    void aTenantHasOneSnapshotAtATime() throws Exception {
        fill();
        EventStream first = open(of(ONE));
        EventStream second = open(of(ONE));
        EventStream ofTwo = open(of(TWO));
        EventStream ofOperator = open(new Subscriber(Optional.empty(), Optional.of(ONE), Instant.MAX));
        List<List<JsonNode>> meanwhile = new ArrayList<>();
        assertThat(second.mustWait()).isFalse();
        AtomicInteger turn = new AtomicInteger();
        // Another part of the first one's is asked for when one is written, so that the others read between parts.
        var out = new ByteArrayOutputStream() {
            @Override
            public void flush() {
                if (turn.getAndIncrement() == 0) {
                    try {
                        assertThat(second.mustWait()).isTrue();
                        assertThat(ofTwo.mustWait()).isFalse();
                        assertThat(ofOperator.mustWait()).isFalse();
                        meanwhile.add(read(second));
                        meanwhile.add(read(ofTwo));
                        meanwhile.add(read(ofOperator));
                    } catch (Exception e) {
                        throw new AssertionError(e);
                    }
                }
            }
        };

        first.writeTo(out);

        assertThat(meanwhile.getFirst()).hasSize(1);
        assertThat(meanwhile.getFirst().getFirst().get("reason").asText()).isEqualTo(EventStream.SNAPSHOT_UNDER_WAY);
        assertThat(heldAfter(meanwhile.get(1))).containsOnlyKeys(keysOf(TWO, 0));
        assertThat(heldAfter(meanwhile.get(2))).containsOnlyKeys(keysOf(ONE, 0));
        assertThat(second.mustWait()).isFalse();
        assertThat(heldAfter(read(open(of(ONE))))).containsOnlyKeys(keysOf(ONE, 0));
        assertThat(streams.subscribers()).isZero();
    }

    @Test
    void aSnapshotThatTakesLongEndsWhenAnotherOneOfTheTenantWaits() throws Exception {
        fill();
        leads = true;
        EventStream slow = open(of(TWO));
        EventStream next = open(of(TWO));
        before = () -> laterMs.addAndGet(SnapshotTurns.WHILE_ANOTHER_WAITS_MS);
        List<Boolean> waits = new ArrayList<>();
        var out = new ByteArrayOutputStream() {
            @Override
            public void flush() {
                waits.add(next.mustWait());
            }
        };

        slow.writeTo(out);

        String last = out.toString(UTF_8).lines().toList().getLast();
        assertThat(JSON.readTree(last).get("reason").asText()).contains("took too long while another subscriber");
        assertThat(out.toString(UTF_8)).doesNotContain("snapshot-end");
        assertThat(waits).startsWith(true).endsWith(false);
    }

    @Test
    void onePartOfAllSnapshotsAtATimeWaitsForTheCore() throws Exception {
        fill();
        EventStream stream = open(Subscriber.OF_ALL);
        AtomicInteger asked = new AtomicInteger();
        before = asked::incrementAndGet;
        CompletableFuture<List<JsonNode>> lines = new CompletableFuture<>();
        Thread reader = new Thread(() -> {
            try {
                lines.complete(read(stream));
            } catch (Exception e) {
                lines.completeExceptionally(e);
            }
        });

        streams.snapshotTurns()
                .next(
                        () -> {
                            reader.start();
                            while (reader.getState() != Thread.State.TIMED_WAITING && !lines.isDone()) {
                                Thread.onSpinWait();
                            }
                            assertThat(asked)
                                    .as("while the part of another one is built")
                                    .hasValue(0);
                            return true;
                        },
                        10);

        assertThat(heldAfter(lines.get()))
                .hasSize(OBJECTS.values().stream().mapToInt(it -> it).sum());
    }
}
