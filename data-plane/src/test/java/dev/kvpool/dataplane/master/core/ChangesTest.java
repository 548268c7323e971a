// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.Change.Copy;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.nativelib.Status;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What a leader tells of changes: each with its cause, and all of them such that a follower is never wrong. */
class ChangesTest {
    private static final long MIB = 1 << 20;

    /** Key of at most 64 bytes and 1000 bytes of payload: 64 + 1024. */
    private static final long EXTENT = 1088;

    private static List<String> causes(ModelFollower follower) {
        return follower.news().stream().map(ChangesTest::cause).toList();
    }

    private static String cause(Change change) {
        return switch (change) {
            case Change.Stored it -> "stored " + it.key() + " " + it.copies().size();
            case Change.Copied it -> "copied " + it.key() + " " + where(it.copy());
            case Change.Dropped it -> "dropped " + it.key() + " " + where(it.copy()) + " " + it.cause();
            case Change.Removed it -> "removed " + it.key() + " " + it.cause();
            case Change.Purged _ -> "purged";
            case Change.Node it -> it.id() + (it.usable() ? " usable" : " away");
            case Change.Ended _ -> "ended";
        };
    }

    private static String where(Copy copy) {
        return copy.node() + (copy.inMemory() ? "/memory" : "/ssd");
    }

    @Test
    void withoutASubscriberNothingIsTold() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        pool.talkedTo().onChange(change -> {
            throw new AssertionError(change);
        });

        assertThat(pool.put("k", 100)).isEqualTo(Status.OK);
        assertThat(pool.remove("k", true)).isEqualTo(Status.OK);
        pool.standBy();

        assertThat(pool.talkedTo().core().changes().open()).as("on a standby").isEqualTo(Authority.NONE);
    }

    @Test
    void aPutARemovalAndAReplacementAreTold() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);
        ModelFollower follower = new ModelFollower(pool.talkedTo()).withAll();
        assertThat(follower.authority().epoch()).isEqualTo(7);

        pool.keeping(Retention.of(false, false, 0, 5));
        pool.put("k", 100);
        Change.Stored stored = (Change.Stored) follower.news().getFirst();
        assertThat(stored.key()).isEqualTo(Key.of("k"));
        assertThat(stored.bytes()).isEqualTo(100);
        assertThat(stored.group()).isEqualTo(5);
        assertThat(stored.copies()).containsExactlyInAnyOrder(new Copy("a", true), new Copy("b", true));

        pool.upsert("k", 200);
        assertThat(causes(follower)).containsExactly("removed k " + Cause.REPLACED, "stored k 2");
        pool.remove("k", true);
        assertThat(causes(follower)).containsExactly("removed k " + Cause.REMOVED);
        pool.put("l", 100);
        pool.removeAll(true);
        assertThat(causes(follower)).containsExactly("stored l 2", "purged");
        follower.isExact(pool.world.nowMs());
    }

    @Test
    void anEvictionAndAMoveToTheSsdAreTold() {
        Scenario pool = new Scenario().withNodes(10 * EXTENT, "a").leading(7);
        ModelFollower follower = new ModelFollower(pool.talkedTo()).withAll();
        fill(pool);
        assertThat(causes(follower)).contains("removed k0 " + Cause.EVICTED).doesNotContain("copied k0 a/ssd");

        Scenario tiered =
                new Scenario().withNodes(10 * EXTENT, "a").withSsd(100 * 4096).leading(7);
        ModelFollower second = new ModelFollower(tiered.talkedTo()).withAll();
        fill(tiered);
        assertThat(causes(second))
                .containsSubsequence("stored k0 1", "copied k0 a/ssd", "dropped k0 a/memory " + Cause.MOVED)
                .doesNotContain("removed k0 " + Cause.EVICTED);
        second.isExact(tiered.world.nowMs());
    }

    private static void fill(Scenario pool) {
        for (int i = 0; i < 10; i++) {
            assertThat(pool.put("k" + i, 1_000)).isEqualTo(Status.OK);
        }
        pool.pass(2 * Scenario.OBJECT_LEASE_MS + Scenario.LEASE_DURATION_MS);
    }

    @Test
    void aNodeThatComesBackWithoutItsMemoryHasLostItsCopies() {
        Scenario pool = new Scenario().withNodes(MIB, "a", "b").leading(7);
        ModelFollower follower = new ModelFollower(pool.talkedTo()).withAll();
        pool.put("k", 100);
        String node =
                ((Change.Stored) follower.news().getFirst()).copies().getFirst().node();

        pool.crash(node);
        assertThat(causes(follower)).containsExactly(node + " away");
        pool.node(node).wipe();
        pool.restart(node);
        pool.world.run(100);

        assertThat(causes(follower))
                .containsExactly(
                        "dropped k " + node + "/memory " + Cause.LOST, "removed k " + Cause.LOST, node + " usable");
        follower.isExact(pool.world.nowMs());
    }

    @Test
    void theEndOfTheTermIsToldBeforeAnythingIsUndone() {
        Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
        ModelFollower follower = new ModelFollower(pool.talkedTo()).withAll();

        pool.standBy();
        pool.world.run(100);

        assertThat(causes(follower)).containsExactly("ended");
    }

    static long[] seeds() {
        Long one = Long.getLong("kvpool.seed");
        long[] seeds = new long[one == null ? Integer.getInteger("kvpool.seeds", 30) : 1];
        for (int i = 0; i < seeds.length; i++) {
            seeds[i] = one == null ? i : one;
        }
        return seeds;
    }

    /** {@code -Dkvpool.seed=N} runs one seed. */
    @ParameterizedTest
    @MethodSource("seeds")
    void aFollowerIsNeverWrong(long seed) {
        new Run(seed).go();
    }

    private static final class Run {
        private static final int KEYS = 40;

        private final Random random;
        private final Scenario pool;
        private ModelFollower follower;
        private boolean whole;
        private long epoch = 7;
        private int compared;

        Run(long seed) {
            random = new Random(seed);
            pool = new Scenario()
                    .withRules(new EvictionRules(0.80, 0.60, 0, 20_000, true))
                    .withNodes(24 * EXTENT, "a", "b", "c")
                    .withReplicas(1 + random.nextInt(2));
            if (random.nextBoolean()) {
                pool.withSsd(30 * 4096);
            }
            pool.leading(epoch);
            follow();
        }

        private void follow() {
            follower = new ModelFollower(pool.talkedTo());
            whole = false;
        }

        void go() {
            for (int step = 0; step < 300; step++) {
                change("k" + random.nextInt(KEYS));
                if (follower.isEnded()) {
                    follow();
                }
                if (!whole && random.nextInt(3) == 0) {
                    whole = follower.goOn(1 + random.nextInt(8));
                }
                if (whole) {
                    follower.isExact(pool.world.nowMs());
                    compared++;
                    if (random.nextInt(20) == 0) {
                        follow();
                    }
                }
            }
            assertThat(compared).as("comparisons").isPositive();
        }

        private void change(String key) {
            switch (random.nextInt(24)) {
                case 0, 1, 2, 3, 4, 5, 6, 7 -> pool.put(key, random.nextInt(1500));
                case 8, 9 -> pool.upsert(key, random.nextInt(1500));
                case 10, 11, 12 -> pool.exists(key);
                case 13, 14 -> pool.beginRemoval(key, random.nextBoolean());
                case 15 -> takeOver();
                case 16 -> nodeDies();
                case 17 -> {
                    if (random.nextInt(4) == 0) {
                        pool.removeMatching(random.nextBoolean() ? "" : "k1.*", true);
                    }
                }
                default -> pool.pass(random.nextInt(6_000));
            }
        }

        private void takeOver() {
            epoch++;
            ModelMaster next = pool.master();
            ModelMaster before = pool.talkedTo();
            pool.lead(next, epoch).talkTo(next);
            before.onChange(change -> {});
            follow();
        }

        private void nodeDies() {
            String node = List.of("a", "b", "c").get(random.nextInt(3));
            pool.crash(node);
            pool.pass(random.nextInt(40_000));
            if (random.nextInt(3) == 0) {
                pool.node(node).wipe();
            }
            pool.restart(node);
            pool.pass(1_000);
        }
    }
}
