// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import static dev.kvpool.operator.pool.roll.RollPool.NEW;
import static dev.kvpool.operator.pool.roll.RollPool.OLD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Upgrades, warm and drained, that fail, are taken back and are followed by others at random moments, through operators that die
 * and decide from old statuses. When nothing goes wrong any more each comes to an end, by itself.
 */
class RollsAtRandomTest {
    private static final List<String> IMAGES = List.of(OLD, NEW, "kvpool:3");
    private static final int EVENTS = 30;
    private static final int ROUNDS_BETWEEN_MAX = 12;
    private static final int LOOKS = 60;

    private final List<String> story = new ArrayList<>();

    static LongStream seeds() {
        return LongStream.range(0, 400);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void whateverHappensItEndsWithOneImageAndNodesThatTakePuts(long seed) {
        Random random = new Random(seed);
        int nodes = 1 + random.nextInt(4);
        int masters = 1 + random.nextInt(3);
        RollPool pool = new RollPool(masters, nodes)
                .options(new UpgradeSpec(1 + random.nextInt(3), 0, false, null, false, null))
                .preflight("rolling-drained")
                .want(NEW);
        for (int i = 0; i < EVENTS; i++) {
            if (random.nextInt(4) == 0) {
                machine(pool, masters, nodes, random);
            } else {
                event(pool, nodes, random);
            }
            pool.rounds(random.nextInt(ROUNDS_BETWEEN_MAX));
        }

        story.add("nothing goes wrong any more");
        IMAGES.forEach(pool::good);
        for (int i = 0; i < nodes; i++) {
            pool.node("s-" + i).stays = 0;
            pool.node("s-" + i).isReachedAgain();
        }
        for (int i = 0; i < masters; i++) {
            pool.master("m-" + i).isReachedAgain();
        }
        if (nodes == 1) {
            pool.mayLoseBytes();
        }
        pool.preflight(random.nextBoolean() ? "rolling-warm" : "rolling-drained");
        for (int look = 0; look < LOOKS; look++) {
            pool.later(Duration.ofMinutes(2)).roundsUntilCalm(10);
        }

        assertThat(pool.status().map(RollStatus::phase))
                .as("%s%n%s%n%s", story, pool.done, pool.plan())
                .isIn(Optional.empty(), Optional.of(RollPhase.FAILED));
        assertThat(pool.imagesOfStorage())
                .as("%s%n%s", story, pool.done)
                .isEqualTo(Set.of(pool.status().map(RollStatus::from).orElse(pool.wanted())));
        // Masters do not go back to what none of them ran with.
        assertThat(pool.imagesOfMasters())
                .as("%s%n%s", story, pool.done)
                .isEqualTo(
                        Set.of(pool.status().map(RollStatus::wayBackOfMasters).orElse(pool.wanted())));
        assertThat(pool.notTaking()).as("%s%n%s", story, pool.done).isZero();
        assertThat(pool.unread()).as("%s%n%s", story, pool.done).isEmpty();
    }

    /** What becomes of the machines. */
    private void machine(RollPool pool, int masters, int nodes, Random random) {
        boolean storage = random.nextBoolean();
        String name = storage ? "s-" + random.nextInt(nodes) : "m-" + random.nextInt(masters);
        RollMember member = storage ? pool.node(name) : pool.master(name);
        switch (random.nextInt(5)) {
            case 0 -> {
                story.add("the machine of " + name + " dies");
                member.dies();
            }
            case 1 -> {
                story.add("there is no node for " + name);
                pool.withoutNode(name);
            }
            case 2 -> {
                story.add(name + " starts with its machine");
                member.reboots();
            }
            default -> {
                story.add(name + " is reached again");
                member.isReachedAgain();
            }
        }
    }

    private void event(RollPool pool, int nodes, Random random) {
        RollMember node = pool.node("s-" + random.nextInt(nodes));
        String image = IMAGES.get(random.nextInt(IMAGES.size()));
        switch (random.nextInt(10)) {
            case 0, 1 -> {
                story.add("want " + image);
                pool.want(image);
            }
            case 2 -> {
                story.add(node.name + " takes its time");
                node.takes = Duration.ofSeconds(random.nextInt(60));
            }
            case 3 -> {
                story.add(node.name + " cannot be emptied, or can again");
                node.stays = node.stays == 0 ? 5 : 0;
            }
            case 4 -> {
                story.add("others lead");
                node.leadersChange = 1;
            }
            case 5 -> {
                boolean breaks = random.nextBoolean();
                story.add(image + (breaks ? " breaks" : " works"));
                IMAGES.forEach(pool::good);
                if (breaks) {
                    pool.bad(image);
                }
            }
            case 6 -> {
                String verdict =
                        List.of("rolling-warm", "rolling-drained", "refused").get(random.nextInt(3));
                story.add(verdict);
                pool.preflight(verdict);
            }
            case 7 -> {
                Duration time = Duration.ofMinutes(random.nextInt(50));
                story.add(time + " pass");
                pool.later(time);
            }
            case 8 -> {
                story.add("operator dies");
                pool.roundCutShort();
                pool.newOperator();
            }
            default -> {
                story.add("old status");
                RollPool.Stored stale = pool.stored();
                pool.round();
                pool.roundWithStaleStatus(stale);
            }
        }
    }
}
