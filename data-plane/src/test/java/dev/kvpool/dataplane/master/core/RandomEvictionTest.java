// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Random puts of objects with pins and groups, reads, removals, upserts and takeovers in small, full pools. A node is never told
 * to free what is leased or hard-pinned; what is softly pinned goes only when no node holds anything else that may go; and a
 * writer who comes again gets room as long as the pool holds enough that may go. {@code -Dkvpool.seed=N} runs one seed.
 */
class RandomEvictionTest {
    private static final long CAPACITY = 24 * 1088;
    private static final long SOFT_PIN_MS = 20_000;
    private static final int KEYS = 60;

    static long[] seeds() {
        Long one = Long.getLong("kvpool.seed");
        long[] seeds = new long[one == null ? Integer.getInteger("kvpool.seeds", 60) : 1];
        for (int i = 0; i < seeds.length; i++) {
            seeds[i] = one == null ? i : one;
        }
        return seeds;
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void nothingGoesThatMayNotAndAFullPoolNeverRests(long seed) {
        new Run(seed).go();
    }

    private static final class Run {
        private final Random random;
        private final Scenario pool;
        private final boolean reserve;

        /** Until when the object under a key was last promised to a reader, by itself or through its group. */
        private final Map<String, Long> leasedUntilMs = new HashMap<>();

        private final Set<String> onPurpose = new HashSet<>();
        private long epoch = 7;
        private Optional<ModelMaster> deposed = Optional.empty();

        Run(long seed) {
            random = new Random(seed);
            reserve = random.nextBoolean();
            pool = new Scenario()
                    .withRules(new EvictionRules(0.80, 0.60, reserve ? 0.05 : 0, SOFT_PIN_MS, random.nextInt(4) > 0))
                    .withNodes(CAPACITY, "a", "b")
                    .withReplicas(1 + random.nextInt(2))
                    .leading(epoch);
            pool.nodes.values().forEach(node -> node.onFree(this::freed));
        }

        void go() {
            for (int step = 0; step < 400; step++) {
                String key = "k" + random.nextInt(KEYS);
                switch (random.nextInt(20)) {
                    case 0, 1, 2, 3, 4, 5, 6, 7 -> put(key, false);
                    case 8, 9 -> put(key, true);
                    case 10, 11, 12, 13, 14 -> read(key);
                    case 15 -> remove(key);
                    case 16 -> takeOver();
                    default -> pool.world.run(random.nextInt(6_000));
                }
            }
            leasesEnd();
            aWriterGetsRoom();
        }

        private void put(String key, boolean upsert) {
            pool.keeping(retention());
            onPurpose.add(key);
            long length = random.nextInt(1500);
            Status status = upsert ? pool.upsert(key, length) : pool.put(key, length);
            assertThat(status).isIn(Status.OK, Status.EXISTS, Status.NO_SPACE);
            if (status == Status.OK) {
                leasedUntilMs.remove(key);
            }
            onPurpose.remove(key);
            pool.world.run(20);
        }

        private Retention retention() {
            boolean soft = random.nextInt(3) == 0;
            boolean hard = random.nextInt(12) == 0;
            long group = random.nextInt(3) == 0 ? 1 + random.nextInt(3) : 0;
            return Retention.of(soft, hard, soft && random.nextBoolean() ? 5_000 : 0, group);
        }

        private void read(String key) {
            boolean found = random.nextBoolean()
                    ? pool.exists(key) == Status.OK
                    : pool.find(key).status() == Status.OK;
            if (!found) {
                return;
            }
            long untilMs = pool.world.nowMs() + Scenario.OBJECT_LEASE_MS;
            DirectoryRecord read = record(key);
            leasedUntilMs.put(key, untilMs);
            if (read.retention().group() != 0) {
                everyRecord(other -> {
                    if (other.retention().group() == read.retention().group()) {
                        leasedUntilMs.put(other.key().toString(), untilMs);
                    }
                });
            }
        }

        private void remove(String key) {
            boolean force = random.nextBoolean();
            onPurpose.add(key);
            Status status = pool.remove(key, force);
            onPurpose.remove(key);
            boolean leased = leasedUntilMs.getOrDefault(key, 0L) > pool.world.nowMs();
            assertThat(status).isIn(Status.OK, Status.NOT_FOUND, Status.HAS_LEASE);
            if (status == Status.OK) {
                assertThat(leased && !force)
                        .as("removed %s under its lease", key)
                        .isFalse();
                leasedUntilMs.remove(key);
            }
        }

        /** The deposed leader stays; the one before it has gone by now. */
        private void takeOver() {
            epoch++;
            deposed.ifPresent(ModelMaster::crash);
            deposed = Optional.of(pool.talkedTo());
            ModelMaster next = pool.master();
            pool.lead(next, epoch).talkTo(next);
        }

        /** A node was told to free this. */
        private void freed(DirectoryRecord record) {
            String key = record.key().toString();
            if (onPurpose.contains(key) || isSuperseded(record)) {
                return;
            }
            long nowMs = pool.world.nowMs();
            assertThat(leasedUntilMs.getOrDefault(key, 0L))
                    .as("lease of %s", key)
                    .isLessThanOrEqualTo(nowMs);
            assertThat(record.retention().hard()).as("hard pin of %s", key).isFalse();
        }

        private boolean isSuperseded(DirectoryRecord record) {
            boolean[] newer = {false};
            everyRecord(other -> newer[0] |=
                    other.key().equals(record.key()) && other.objectId().isNewerThan(record.objectId()));
            return newer[0];
        }

        private void leasesEnd() {
            pool.pass(Scenario.LEASE_DURATION_MS + 2 * Scenario.OBJECT_LEASE_MS + 2 * SOFT_PIN_MS);
        }

        /** Nothing is leased any more and no soft pin runs: whoever wants room that hard pins do not take gets it. */
        private void aWriterGetsRoom() {
            pool.keeping(Retention.NONE);
            long hard = 0;
            for (ModelNode node : pool.nodes.values()) {
                long held = node.directory().stream()
                        .filter(line -> line.retention().hard())
                        .mapToLong(DirectoryRecord::extentBytes)
                        .sum();
                hard = Math.max(hard, held);
            }
            long room = CAPACITY - hard - (reserve ? CAPACITY / 20 : 0) - 200;
            if (room < 64) {
                return;
            }
            onPurpose.add("the writer");
            Status status = Status.NO_SPACE;
            for (int attempt = 0; attempt < 8 && status == Status.NO_SPACE; attempt++) {
                status = pool.put("the writer", room);
                pool.world.run(100);
            }
            assertThat(status)
                    .as("a put of %d bytes beside %d hard-pinned ones", room, hard)
                    .isEqualTo(Status.OK);
        }

        private DirectoryRecord record(String key) {
            DirectoryRecord[] newest = {null};
            everyRecord(record -> {
                boolean better = newest[0] == null || record.objectId().isNewerThan(newest[0].objectId());
                if (record.key().toString().equals(key) && better) {
                    newest[0] = record;
                }
            });
            return newest[0];
        }

        private void everyRecord(java.util.function.Consumer<DirectoryRecord> visitor) {
            pool.nodes.values().forEach(node -> node.directory().forEach(visitor));
        }
    }
}
