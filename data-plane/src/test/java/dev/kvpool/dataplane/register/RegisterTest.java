// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.register;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class RegisterTest {
    private static final ObjectId EARLY = new ObjectId(3, 10);
    private static final ObjectId LATE = new ObjectId(4, 1);
    private static final Register POOL =
            Register.NONE.enrolled(Set.of("a", "b", "c")).witnessed("a", 11);

    @Test
    void aNodeThatIsAwayAgainIsBehindInAllThatItCouldHaveGotMeanwhile() {
        Register away = POOL.away(Set.of("b"), EARLY).away(Set.of("b"), LATE);

        assertThat(away.behindSince("b")).isEqualTo(LATE);
        assertThat(away.away(Set.of("b"), EARLY)).isEqualTo(away);
        assertThat(away.behind()).containsExactly("b");
        assertThat(away.behindSince("a")).isEqualTo(ObjectId.NONE);
    }

    @Test
    void aNodeThatIsAwayWitnessesNothing() {
        assertThat(POOL.away(Set.of("a"), EARLY).witnesses()).isEmpty();
        assertThat(POOL.away(Set.of("a"), EARLY).caughtUp(Set.of("a")).witnesses())
                .isEmpty();
        assertThat(POOL.away(Set.of("b"), EARLY).witnessed("b", 12).isWitness("b", 12))
                .as("until it has every tombstone")
                .isTrue();
    }

    @Test
    void anotherMemoryUnderTheSameNameIsNoWitness() {
        assertThat(POOL.isWitness("a", 11)).isTrue();
        assertThat(POOL.isWitness("a", 12)).isFalse();
        assertThat(POOL.struckOff(Set.of("a")).isWitness("a", 11)).isFalse();
    }

    @Test
    void whatIsNoMemberIsNeitherBehindNorWitness() {
        assertThat(POOL.away(Set.of("x"), EARLY)).isSameAs(POOL);
        assertThat(POOL.witnessed("x", 1)).isSameAs(POOL);
        assertThat(POOL.away(Set.of("b"), EARLY).dropped(Set.of("b")).isAnyBehind())
                .isFalse();
    }

    @Test
    void numbersOnlyGrow() {
        Register register = POOL.purged(LATE).raised(new ActiveVersions(2, 1));

        assertThat(register.purged(EARLY)).isSameAs(register);
        assertThat(register.raised(new ActiveVersions(1, 1))).isSameAs(register);
        assertThat(register.raised(new ActiveVersions(1, 2)).active()).isEqualTo(new ActiveVersions(2, 2));
    }

    @Test
    void whatChangesNothingIsTheSame() {
        assertThat(POOL.lent(Map.of("a", Tenant.DEFAULT))).isSameAs(POOL);
        assertThat(POOL.caughtUp(Set.of("a"))).isSameAs(POOL);
        assertThat(POOL.dropped(Set.of("x"))).isSameAs(POOL);
        assertThat(POOL.drainOver("a")).isSameAs(POOL);
    }

    /** Against a model of plain sets: only members are behind, or witnesses. */
    @Test
    void whateverHappensOnlyMembersAreBehindOrWitnesses() {
        for (long seed = 1; seed <= 200; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Register register = Register.NONE;
            Map<String, ObjectId> behind = new TreeMap<>();
            Set<String> members = new TreeSet<>();
            Map<String, Long> witnesses = new TreeMap<>();
            for (int step = 1; step < 200; step++) {
                String id = "n" + random.nextInt(6);
                ObjectId now = new ObjectId(1, step);
                switch (random.nextInt(6)) {
                    case 0 -> {
                        register = register.enrolled(List.of(id));
                        members.add(id);
                    }
                    case 1 -> {
                        register = register.dropped(List.of(id));
                        members.remove(id);
                        behind.remove(id);
                        witnesses.remove(id);
                    }
                    case 2 -> {
                        register = register.away(List.of(id), now);
                        if (members.contains(id)) {
                            behind.putIfAbsent(id, now);
                            witnesses.remove(id);
                        }
                    }
                    case 3 -> {
                        register = register.caughtUp(List.of(id));
                        behind.remove(id);
                    }
                    case 4 -> {
                        register = register.witnessed(id, step);
                        if (members.contains(id)) {
                            witnesses.put(id, (long) step);
                        }
                    }
                    default -> {
                        register = register.struckOff(List.of(id));
                        witnesses.remove(id);
                    }
                }
                assertThat(register.members().keySet()).as("seed %d", seed).isEqualTo(members);
                assertThat(register.behind()).as("seed %d", seed).isEqualTo(behind.keySet());
                assertThat(register.witnesses()).as("seed %d", seed).isEqualTo(witnesses);
            }
        }
    }
}
