// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Candidates that few storage nodes are connected to come after those that see more, and lead when there are no others. */
class BlindCandidateTest extends ElectionScene {
    private static final long LEASE_MS = ElectionTimes.DEFAULT.leaseDurationMs();
    private static final long ROUND_MS = ElectionTimes.DEFAULT.retryPeriodMs();

    @Test
    void aLeaseThatIsGivenBackIsLeftToWhoeverSeesMore() {
        Master first = new Master("a", 1).round();
        Master blind = new Master("b", 2).round();
        Master sighted = new Master("c", 3).round();
        blind.elector.round(PlainWishes.NONE);
        blindly("b");

        first.elector.round(PlainWishes.RELEASE);
        blind.round();
        assertThat(blind.leading).isFalse();
        sighted.round();
        assertThat(sighted.epoch()).isEqualTo(2);
    }

    @Test
    void nobodyElseTakesIt() {
        blindly("b");
        Master first = new Master("a", 1).round();
        Master blind = new Master("b", 2).round();
        first.elector.round(PlainWishes.RELEASE);

        assertThat(blind.round().leading).isFalse();
        nowMs += LEASE_MS - 1;
        assertThat(blind.round().leading).isFalse();
        nowMs += 1;
        assertThat(blind.round().leading).isTrue();
    }

    @Test
    void theFirstLeaderOfAPoolWithoutNodesWaitsAsLongAndSaysWhy() {
        blindly("a");
        Master only = new Master("a", 1).round();
        assertThat(only.leading).isFalse();
        assertThat(only.reason).contains("fewer than half of the expected nodes are connected");

        nowMs += LEASE_MS;
        assertThat(only.round().leading).isTrue();
        nowMs += ROUND_MS;
        assertThat(only.round().leading).as("a leader that sees nobody goes on").isTrue();
    }

    @Test
    void whoeverSeesEnoughMeanwhileWaitsNoLonger() {
        blindly("a");
        Master only = new Master("a", 1).round();
        blind.clear();
        assertThat(only.round().leading).isTrue();
    }

    @Test
    void theTimeBeginsAnewWithEachLeader() {
        blindly("b");
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        first.elector.round(PlainWishes.RELEASE);
        second.round();
        nowMs += LEASE_MS - 1;
        first.round();
        second.round();
        first.elector.round(PlainWishes.RELEASE);
        nowMs += 1;
        assertThat(second.round().leading).isFalse();
    }

    @Test
    void aDeadLeaderIsNotSucceededAtOnceByWhoeverSeesNobody() {
        blindly("b");
        Master first = new Master("a", 1).round();
        Master second = new Master("b", 2).round();
        second.elector.round(PlainWishes.gone(first.terms.getLast(), nowMs));
        assertThat(second.leading).isFalse();
        for (int round = 0; !second.leading; round++) {
            assertThat(round * ROUND_MS)
                    .as("it ran out, and nobody else took it")
                    .isLessThanOrEqualTo(3 * LEASE_MS);
            nowMs += ROUND_MS;
            second.round();
        }
    }

    /**
     * Masters that die, come back, and see more or less of the pool. Whenever one is alive for long enough there is a leader; and a
     * blind one takes the Lease only after all that see more had a round to do so.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
    void thereIsALeaderInTheEndWhateverTheyHaveSeen(long seed) {
        Random random = new Random(seed);
        List<Master> masters = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            masters.add(new Master("m" + i, 1 + i));
        }
        int lastNonce = 3;
        for (int step = 0; step < 400; step++) {
            int which = random.nextInt(3);
            Master master = masters.get(which);
            switch (random.nextInt(6)) {
                case 0 -> blind.add("m" + which);
                case 1 -> blind.remove("m" + which);
                case 2 -> masters.set(which, new Master("m" + which, ++lastNonce));
                case 3 -> master.elector.round(PlainWishes.RELEASE);
                default -> master.round();
            }
            nowMs += random.nextInt(700);
        }
        int stillBlind = random.nextInt(4);
        blind.clear();
        for (int i = 0; i < stillBlind; i++) {
            blind.add("m" + i);
        }
        List<Master> alive = masters.subList(0, 1 + random.nextInt(3));
        for (int round = 0; alive.stream().noneMatch(Master::serves); round++) {
            assertThat(round * ROUND_MS).isLessThanOrEqualTo(3 * LEASE_MS);
            nowMs += ROUND_MS;
            alive.forEach(Master::round);
        }
        // From now on each leader leaves, and whoever sees more is next.
        for (int turn = 0; turn < 20; turn++) {
            Master leader = alive.stream().filter(Master::serves).findFirst().orElseThrow();
            leader.elector.round(PlainWishes.RELEASE);
            List<Master> others = alive.stream().filter(it -> it != leader).toList();
            if (others.stream().anyMatch(it -> !isBlind(it, masters))) {
                others.forEach(Master::round);
                Master next = others.stream().filter(Master::serves).findFirst().orElseThrow();
                assertThat(isBlind(next, masters)).isFalse();
            } else {
                for (int round = 0; alive.stream().noneMatch(Master::serves); round++) {
                    assertThat(round * ROUND_MS).isLessThanOrEqualTo(2 * LEASE_MS);
                    nowMs += ROUND_MS;
                    alive.forEach(Master::round);
                }
            }
        }
    }

    private boolean isBlind(Master master, List<Master> masters) {
        return blind.contains("m" + masters.indexOf(master));
    }

    private void blindly(String name) {
        blind.add(name);
    }
}
