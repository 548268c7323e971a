// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What subscribers of tenants learn of each other's objects: nothing, not even how often they change. */
class TenantEventsTest {
    private static final Tenant ONE = Tenant.of("one");
    private static final Tenant TWO = Tenant.of("two");
    private static final List<Tenant> TENANTS = List.of(Tenant.DEFAULT, ONE, TWO);
    private static final int CHANGES = EventStream.CHANGES_AT_ONCE;
    private static final int KEPT = 1 << 12;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final long seed = System.nanoTime();
    private final Random random = new Random(seed);
    private final MasterCore core = new MasterCore(
            PlainSettings.of("m", 10_000, 0.9, 0.8, 1, 30_000, 1 << 28), Set.of(), new Random(1), new Random(1));
    private long nowMs = 1_000_000;

    /** How often a stream looks for changes before it hears that the leadership has ended. */
    private int turnsLeft;

    private final CoreTurns turns = new CoreTurns() {
        @Override
        public <T> CompletableFuture<T> ask(Function<MasterCore, T> question) {
            return CompletableFuture.completedFuture(question.apply(core));
        }
    };
    private final EventStreams streams = new EventStreams(turns, () -> turnsLeft-- > 0, () -> nowMs, KEPT);

    @BeforeEach
    void serve() {
        System.out.println("seed " + seed);
        core.lead(new Authority(7, 0xabc), Long.MAX_VALUE, nowMs + 5_000, Register.NONE, nowMs);
        for (int i = 0; i < 4; i++) {
            nowMs += 10_000;
            core.tick(nowMs);
        }
    }

    private static Subscriber of(Tenant tenant) {
        return new Subscriber(Optional.of(tenant), Optional.of(tenant), Instant.MAX);
    }

    /** What a subscriber reads that looks for changes so often. */
    private List<JsonNode> read(Subscriber subscriber, Optional<Position> after, int looks) throws Exception {
        EventStream stream = streams.open(subscriber, after).join().orElseThrow();
        turnsLeft = looks;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        stream.writeTo(out);
        List<JsonNode> lines = new ArrayList<>();
        for (String line : out.toString(UTF_8).split("\n", -1)) {
            if (!line.isEmpty()) {
                lines.add(JSON.readTree(line));
            }
        }
        return lines;
    }

    private Position beginningOf(Subscriber subscriber) throws Exception {
        return position(read(subscriber, Optional.empty(), 0).getFirst());
    }

    private static Position position(JsonNode line) {
        return Position.parse(line.get("at").asText());
    }

    private Change any(int number) {
        Tenant tenant = TENANTS.get(random.nextInt(TENANTS.size()));
        ObjectId id = new ObjectId(7, number + 1L);
        Key key = tenant.qualify(Key.of("key/" + random.nextInt(10) + "/of/" + tenant));
        Change.Copy copy = new Change.Copy("n0", random.nextBoolean());
        return switch (random.nextInt(6)) {
            case 0 -> new Change.Stored(key, id, 10, 0, List.of(copy));
            case 1 -> new Change.Copied(key, id, copy);
            case 2 -> new Change.Dropped(key, id, copy, Change.Cause.MOVED);
            case 3 -> new Change.Removed(key, id, Change.Cause.EVICTED);
            case 4 -> new Change.Node("memory-of-" + tenant, true, Optional.of(tenant));
            default -> random.nextBoolean() ? new Change.Node("n0", random.nextBoolean()) : new Change.Purged(id);
        };
    }

    private static List<JsonNode> changesOf(List<JsonNode> lines) {
        Set<String> others = Set.of("resumed", "heartbeat", "bye", "snapshot-begin", "snapshot-end");
        return lines.stream()
                .filter(line -> !others.contains(line.get("event").asText()))
                .toList();
    }

    @Test
    void aTenantIsShownItsOwnChangesAndCountsOnlyThem() throws Exception {
        for (Tenant tenant : TENANTS) {
            Subscriber subscriber = of(tenant);
            Position begin = beginningOf(subscriber);
            List<Change> own = new ArrayList<>();
            for (int i = 0; i < CHANGES; i++) {
                Change change = any(i);
                streams.heard(List.of(new Action.Changed(change)));
                if (change.tenant().isEmpty() || change.tenant().get().equals(tenant)) {
                    own.add(change);
                }
            }

            List<JsonNode> told = changesOf(read(subscriber, Optional.of(begin), 1));

            assertThat(told).hasSameSizeAs(own);
            for (int i = 0; i < own.size(); i++) {
                assertThat(position(told.get(i)))
                        .as("no number is left out, so none tells of others")
                        .isEqualTo(new Position(begin.authority(), begin.sequence() + i + 1));
                assertThat(told.get(i).toString()).doesNotContain("\"tenant\"").doesNotContain("\\u0000");
                for (Tenant other : TENANTS) {
                    if (!other.equals(tenant)) {
                        assertThat(told.get(i).toString()).doesNotContain("of/" + other, "memory-of-" + other);
                    }
                }
            }
            int seen = random.nextInt(own.size() - 1);
            assertThat(changesOf(read(subscriber, Optional.of(position(told.get(seen))), 1)))
                    .as("what follows a position, all of it and once")
                    .isEqualTo(told.subList(seen + 1, told.size()));
        }
    }

    @Test
    void aPositionIsOfItsTenantOnly() throws Exception {
        Position ofOne = beginningOf(of(ONE));

        assertThat(read(of(ONE), Optional.of(ofOne), 0).getFirst().get("event").asText())
                .isEqualTo("resumed");
        for (Subscriber other : List.of(of(TWO), of(Tenant.DEFAULT), Subscriber.OF_ALL)) {
            assertThat(read(other, Optional.of(ofOne), 0)
                            .getFirst()
                            .get("event")
                            .asText())
                    .isEqualTo("snapshot-begin");
        }
        for (int i = 0; i < KEPT + 1; i++) {
            streams.heard(List.of(new Action.Changed(
                    new Change.Removed(ONE.qualify(Key.of("k")), new ObjectId(7, i + 1L), Change.Cause.REMOVED))));
        }
        assertThat(read(of(ONE), Optional.of(ofOne), 0).getFirst().get("event").asText())
                .as("what follows is not kept any more")
                .isEqualTo("snapshot-begin");
    }

    @Test
    void aStreamEndsWithTheCertificate() throws Exception {
        List<JsonNode> lines =
                read(new Subscriber(Optional.of(ONE), Optional.of(ONE), Instant.now()), Optional.empty(), 2);

        assertThat(lines.getLast().get("reason").asText())
                .startsWith("the certificate or token of this connection has ended");
    }

    @Test
    void whoHasMoreThanOthersLosesTheNewestStream() throws Exception {
        for (int i = 0; i < SubscriberPlaces.SHARED - 1; i++) {
            assertThat(streams.enter(of(ONE))).isPresent();
        }
        EventStream newest = streams.open(of(ONE), Optional.empty()).join().orElseThrow();
        turnsLeft = 2;
        ByteArrayOutputStream out = new ByteArrayOutputStream() {
            private boolean lost;

            @Override
            public void flush() {
                if (!lost) {
                    lost = true;
                    assertThat(streams.isFull(of(ONE))).isTrue();
                    assertThat(streams.isFull(of(TWO))).isFalse();
                    assertThat(streams.enter(of(TWO))).isPresent();
                }
            }
        };

        newest.writeTo(out);

        assertThat(out.toString(UTF_8)).contains("\"bye\"", "its place is another subscriber's now");
        assertThat(streams.subscribers()).as("its place is TWO's").isEqualTo(SubscriberPlaces.SHARED);
        assertThat(read(of(ONE), Optional.empty(), 0).getFirst().get("reason").asText())
                .isEqualTo(EventStreams.FULL);
    }
}
