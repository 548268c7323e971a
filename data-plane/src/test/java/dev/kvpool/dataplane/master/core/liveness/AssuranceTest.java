// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.NodePeer;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.NodesSetApart;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.RegisterKeeper;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Whether a leader can still be sure that no other has followed it. */
class AssuranceTest {
    private static final long RENEW_MS = 3_000;
    private static final Set<String> NODES = Set.of("a", "b", "c");

    private final Leadership leadership = new Leadership();
    private final Outbox outbox = new Outbox();
    private final RegisterKeeper register = new RegisterKeeper(leadership, outbox);
    private final Membership membership =
            View.empty(1, 1 << 28, NODES, new NodesSetApart(), new Random(1)).membership();
    private Assurance assurance = assurance(false);
    private long nowMs = 100_000;

    private Assurance assurance(boolean areAllCertified) {
        return new Assurance(
                RENEW_MS, leadership, membership, new Electorate(membership, register, areAllCertified), outbox);
    }

    AssuranceTest() {
        for (String id : NODES) {
            membership.connect(id.charAt(0), new NodePeer(id, 1, "0.1.0"), nowMs);
        }
        leadership.recover(new Authority(5, 55), nowMs + RENEW_MS);
        register.begin(Register.NONE.enrolled(NODES).as(1));
        leadership.serve();
        assurance.renewed(nowMs + RENEW_MS, nowMs);
    }

    /** So much later. */
    private boolean isSureAfter(long ms) {
        nowMs += ms;
        assurance.look(nowMs);
        return leadership.serves(nowMs);
    }

    private void answersOf(String... ids) {
        for (String id : ids) {
            membership.node(id).answered(nowMs);
        }
    }

    @Test
    void aRenewalIsWorthLessThanWhoeverFollowsWaits() {
        assertThat(isSureAfter(Bounds.SURE_MS - 1)).isTrue();
        assertThat(isSureAfter(1)).isFalse();
        assertThat(outbox.drain()).contains(new Action.LookAtLease());
    }

    @Test
    void soManyAnswersThatTheOthersAreNoMajorityAreWorthAsMuch() {
        for (int i = 0; i < 2; i++) {
            assertThat(isSureAfter(Bounds.SURE_MS / 2)).isTrue();
            answersOf("a", "b");
        }
        assertThat(isSureAfter(Bounds.SURE_MS - 1)).isTrue();
        assertThat(isSureAfter(1)).isFalse();
    }

    @Test
    void answersOfFewAreWorthNothing() {
        assertThat(isSureAfter(Bounds.SURE_MS / 2)).isTrue();
        answersOf("a");
        assertThat(isSureAfter(Bounds.SURE_MS / 2)).isFalse();
    }

    @Test
    void afterAGapOnlyARenewalCounts() {
        assertThat(isSureAfter(Bounds.SURE_MS)).isFalse();
        answersOf("a", "b", "c");
        assertThat(isSureAfter(1)).as("somebody may have followed meanwhile").isFalse();
        assurance.renewed(nowMs - Bounds.SURE_MS + RENEW_MS, nowMs);
        assertThat(isSureAfter(1)).as("that one began before").isFalse();

        leadership.renewed(nowMs + RENEW_MS);
        assurance.renewed(nowMs + RENEW_MS, nowMs);
        assertThat(isSureAfter(1)).isTrue();
    }

    @Test
    void nobodyCountsWhileOthersMayCountDifferentNodes() {
        membership.expect(Map.of("a", "", "b", ""));
        assertThat(isSureAfter(Bounds.SURE_MS - 1)).isTrue();
        answersOf("a", "b");
        assertThat(isSureAfter(1)).isFalse();
    }

    /** Which the simulation found: a leader answered clients while its status said that it does not serve. */
    @Test
    void whatItSaysOfItselfIsWhatItDoesWhenOtherNodesAreExpected() {
        assertThat(isSureAfter(Bounds.SURE_MS / 2)).isTrue();
        answersOf("a", "b");
        assertThat(isSureAfter(Bounds.SURE_MS / 2)).isTrue();

        membership.expect(Map.of("a", "", "b", ""));
        assertThat(isSureAfter(1)).isTrue();
        assertThat(assurance.servingUntilMs(nowMs)).isEqualTo(nowMs + Bounds.SURE_MS / 2 - 1);
    }

    private void isOfEngines(String... ids) {
        isOfEngines(Tenant.DEFAULT, ids);
    }

    private void isOfEngines(Tenant ofOthers, String... ids) {
        membership.expect(Map.of());
        Map<String, Tenant> engines = new HashMap<>();
        for (String id : ids) {
            engines.put(id, engines.isEmpty() ? Tenant.DEFAULT : ofOthers);
            membership.connect(id.charAt(0), new NodePeer(id, 1, "0.1.0"), nowMs);
        }
        register.begin(Register.NONE.lent(engines).as(1));
    }

    @Test
    void whereThereAreEnginesOnlyTheirAnswersCount() {
        isOfEngines("x", "y", "z");
        assertThat(isSureAfter(Bounds.SURE_MS / 2)).isTrue();
        answersOf("x", "z");
        assertThat(isSureAfter(Bounds.SURE_MS - 1)).isTrue();
        answersOf("a", "b", "c", "x");
        assertThat(isSureAfter(1)).as("most engines hear nothing").isFalse();
    }

    /** One tenant may have most, which say to this master that they hear nothing of it. */
    @Test
    void thoseOfTenantsAreNotCounted() {
        isOfEngines(Tenant.of("greedy"), "x", "y", "z");
        for (int i = 0; i < 3; i++) {
            assertThat(isSureAfter(Bounds.SURE_MS / 2)).isTrue();
            answersOf("x");
        }
        answersOf("y", "z");
        assertThat(isSureAfter(Bounds.SURE_MS))
                .as("the one that counts is silent")
                .isFalse();
    }

    /** None can tell a standby anything that this believes. */
    @Test
    void noEngineIsCountedWhereAllHaveCertificates() {
        isOfEngines("x", "y", "z");
        assurance = assurance(true);
        assurance.renewed(nowMs + RENEW_MS, nowMs);
        assertThat(isSureAfter(RENEW_MS - 1)).isTrue();
    }

    @Test
    void whoeverTakesTheLeaseMayHaveReadTheEnginesOfBeforeOrThoseThatAreWritten() {
        isOfEngines("x", "y", "z");
        register.change(it ->
                it.lent(Map.of("t", Tenant.DEFAULT, "u", Tenant.DEFAULT, "v", Tenant.DEFAULT, "w", Tenant.DEFAULT)));
        register.send();
        assertThat(isSureAfter(Bounds.SURE_MS / 2)).isTrue();
        answersOf("x", "y", "z");
        assertThat(isSureAfter(Bounds.SURE_MS / 2))
                .as("four of seven are silent")
                .isFalse();
    }

    /** There is nothing that could tell another master of its silence. */
    @Test
    void withoutAnyNodesItIsSureAsLongAsTheLeaseIsValid() {
        isOfEngines();
        assertThat(isSureAfter(RENEW_MS - 1)).isTrue();
    }

    @Test
    void nobodyCountsWhileTheLeaseMayHoldAnotherRegister() {
        register.change(it -> it.enrolled(Set.of("d")));
        register.send();
        assertThat(isSureAfter(Bounds.SURE_MS - 1)).isTrue();
        answersOf("a", "b", "c");
        assertThat(isSureAfter(1)).isFalse();
    }
}
