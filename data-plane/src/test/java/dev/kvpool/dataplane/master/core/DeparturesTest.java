// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeMessage.LeaderGone;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.wire.Departure;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** When a standby is told to look after a leader that nodes say is gone. */
class DeparturesTest {
    private static final Authority LEADER = new Authority(5, 55);
    private static final String ADDRESS = "m-0:50051";

    private final MasterCore core = new MasterCore(
            PlainSettings.of("m-1", 1_000, 0.9, 0.8, 1, 30_000, 1 << 28),
            Set.of("a", "b", "c"),
            new Random(1),
            new Random(1));
    private long nowMs = 1_000;

    DeparturesTest() {
        connect(1, "a");
        connect(2, "b");
        connect(3, "c");
        connect(4, "stranger");
        core.drain();
    }

    private void connect(long session, String id) {
        assertThat(core.nodeConnected(session, new NodePeer(id, session, "0.1.0"), nowMs))
                .isEmpty();
    }

    private List<Action> says(long session, Departure departure, Authority authority) {
        core.receive(session, new LeaderGone(authority, departure, ADDRESS), nowMs);
        return core.drain().stream()
                .filter(action -> !(action instanceof Action.Report))
                .toList();
    }

    private List<Action> crashed(long session, Authority authority) {
        return says(session, Departure.CRASHED, authority);
    }

    @Test
    void mostOfTheExpectedNodesMakeAMajority() {
        assertThat(crashed(1, LEADER)).isEmpty();
        assertThat(crashed(2, LEADER)).containsExactly(new Action.LeaderCrashed(LEADER, ADDRESS));
    }

    @Test
    void oneNodeSaidTwiceIsOneAndStrangersAreNone() {
        assertThat(crashed(1, LEADER)).isEmpty();
        assertThat(crashed(1, LEADER)).isEmpty();
        assertThat(crashed(4, LEADER)).isEmpty();
    }

    @Test
    void wordsAboutDifferentLeadersDoNotAddUp() {
        assertThat(crashed(1, LEADER)).isEmpty();
        assertThat(crashed(2, new Authority(6, 66))).isEmpty();
        assertThat(crashed(3, new Authority(6, 66)))
                .containsExactly(new Action.LeaderCrashed(new Authority(6, 66), ADDRESS));
    }

    @Test
    void whatOneNodeSaysOfALaterLeaderMakesTheWordsOfOthersNoneOfThePast() {
        assertThat(crashed(1, new Authority(LEADER.epoch() + 1, 99))).isEmpty();
        assertThat(crashed(2, LEADER)).isEmpty();
        assertThat(crashed(3, LEADER)).containsExactly(new Action.LeaderCrashed(LEADER, ADDRESS));
    }

    @Test
    void aWordCountsForAShortTimeOnly() {
        crashed(1, LEADER);
        nowMs += Bounds.WITNESS_MS + 1;
        assertThat(crashed(2, LEADER)).isEmpty();
        assertThat(crashed(1, LEADER)).as("said again").hasSize(1);
    }

    @Test
    void nodesThatAreNotExpectedAnyMoreDoNotCount() {
        crashed(1, LEADER);
        core.expectNodes(Map.of("b", "", "c", "", "d", ""), nowMs);
        assertThat(crashed(2, LEADER)).isEmpty();
        assertThat(crashed(3, LEADER)).hasSize(1);
    }

    @Test
    void aLeaderThatLeftIsWorthALookWhenAnExpectedNodeSaysSo() {
        assertThat(says(4, Departure.LEFT, LEADER)).isEmpty();
        assertThat(says(1, Departure.LEFT, LEADER)).containsExactly(new Action.LookAtLease());
    }

    @Test
    void orWhoeverSaysSoOfTheOneThatTheLeaseHas() {
        core.leaseSeen(LEADER.epoch(), Register.NONE, nowMs);
        assertThat(says(4, Departure.LEFT, new Authority(LEADER.epoch() - 1, 44)))
                .isEmpty();
        assertThat(says(4, Departure.LEFT, LEADER)).containsExactly(new Action.LookAtLease());
    }

    @Test
    void whereThereAreEnginesOnlyTheMembersAmongThemAreAsGood() {
        core.expectNodes(Map.of(), nowMs);
        core.drain();
        assertThat(says(4, Departure.LEFT, LEADER)).isEmpty();
        core.leaseSeen(
                1,
                Register.NONE
                        .lent(Map.of("stranger", Tenant.DEFAULT, "a", Tenant.DEFAULT, "b", Tenant.DEFAULT))
                        .as(1),
                nowMs);
        assertThat(says(4, Departure.LEFT, LEADER)).containsExactly(new Action.LookAtLease());
        assertThat(crashed(3, LEADER)).isEmpty();
        assertThat(crashed(1, LEADER)).isEmpty();
        assertThat(crashed(4, LEADER)).containsExactly(new Action.LeaderCrashed(LEADER, ADDRESS));
    }

    /** One tenant may have most of them, and would end one leader after the other. */
    @Test
    void enginesOfTenantsEndNoLeader() {
        core.expectNodes(Map.of(), nowMs);
        core.leaseSeen(
                1,
                Register.NONE
                        .lent(Map.of("x", Tenant.DEFAULT, "y", Tenant.DEFAULT))
                        .as(1),
                nowMs);
        Optional<Tenant> tenant = Optional.of(Tenant.of("greedy"));
        core.nodeConnected(5, new NodePeer("x", 5, "0.1.0", false, tenant), nowMs);
        core.nodeConnected(6, new NodePeer("y", 6, "0.1.0", false, tenant), nowMs);
        core.drain();
        assertThat(crashed(5, LEADER)).isEmpty();
        assertThat(crashed(6, LEADER)).isEmpty();
    }

    @Test
    void manyWordsOfOneThatLeftAreOneLook() {
        assertThat(says(1, Departure.LEFT, LEADER)).hasSize(1);
        for (long session = 1; session <= 4; session++) {
            assertThat(says(session, Departure.LEFT, LEADER)).isEmpty();
        }
        nowMs += Bounds.LOOK_REST_MS;
        core.tick(nowMs);
        assertThat(core.drain()).as("the last word is not lost").contains(new Action.LookAtLease());
        nowMs += Bounds.LOOK_REST_MS;
        core.tick(nowMs);
        assertThat(core.drain()).doesNotContain(new Action.LookAtLease());
    }

    /** It would make every true word one of the past. */
    @Test
    void wordsOfALeaderThatCannotHaveBeenCountForNothing() {
        Authority far = new Authority(Integer.MAX_VALUE - 3, 77);
        core.leaseSeen(LEADER.epoch() - 1, Register.NONE, nowMs);
        assertThat(crashed(1, far)).isEmpty();
        assertThat(says(4, Departure.LEFT, far)).isEmpty();
        assertThat(crashed(2, LEADER)).isEmpty();
        assertThat(crashed(3, LEADER)).containsExactly(new Action.LeaderCrashed(LEADER, ADDRESS));
    }

    @Test
    void aMasterThatLedForgetsWhatWasSaidBefore() {
        crashed(1, LEADER);
        core.lead(new Authority(6, 66), nowMs + 3_000, nowMs + Scenario.LEASE_DURATION_MS, Register.NONE, nowMs);
        core.standBy("the Lease is no longer ours", nowMs);
        core.drain();

        assertThat(crashed(2, LEADER)).isEmpty();
        assertThat(crashed(3, LEADER)).isEmpty();
    }

    @Test
    void anAddressWithoutEndEndsTheConnection() {
        core.receive(1, new LeaderGone(LEADER, Departure.CRASHED, "m".repeat(10_000)), nowMs);
        assertThat(core.drain()).anyMatch(action -> action instanceof Action.Close close && close.session() == 1);
    }
}
