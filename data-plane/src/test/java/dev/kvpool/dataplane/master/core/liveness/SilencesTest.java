// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.MasterCore;
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

/** When a standby finds that a leader is silent, by what nodes answer to its heartbeats. */
class SilencesTest {
    private static final Authority LEADER = new Authority(5, 55);
    private static final String ADDRESS = "m-0:50051";
    private static final long PROOF_MS = Bounds.SURE_MS + Bounds.SILENCE_MARGIN_MS + Bounds.ANSWER_AGE_MS;
    private static final Set<String> NODES = Set.of("a", "b", "c");

    private final MasterCore core = new MasterCore(
            PlainSettings.of("m-1", 1_000, 0.9, 0.8, 1, 30_000, 1 << 28), NODES, new Random(1), new Random(1));
    private long nowMs = 100_000;

    SilencesTest() {
        core.leaseSeen(
                1,
                Register.NONE
                        .enrolled(NODES)
                        .lent(Map.of("engine", Tenant.DEFAULT))
                        .as(1),
                nowMs);
        List.of("a", "b", "c")
                .forEach(id -> assertThat(
                                core.nodeConnected(session(id), new NodePeer(id, session(id), "0.1.0"), nowMs))
                        .isEmpty());
        core.drain();
    }

    private static long session(String id) {
        return id.charAt(0);
    }

    /** A node answers a heartbeat of {@code agoMs} ago. */
    private Optional<Action.LeaderSilent> silent(String id, Authority leader, long silentMs, long agoMs) {
        core.receive(session(id), new LeaderGone(leader, Departure.SILENT, silentMs, nowMs - agoMs, ADDRESS), nowMs);
        return core.drain().stream()
                .filter(Action.LeaderSilent.class::isInstance)
                .map(Action.LeaderSilent.class::cast)
                .findFirst();
    }

    private Optional<Action.LeaderSilent> silent(String id, long silentMs) {
        return silent(id, LEADER, silentMs, 1);
    }

    @Test
    void mostNodesMustNotHaveHeardTheLeaderAtOneMoment() {
        assertThat(silent("a", PROOF_MS)).isEmpty();
        assertThat(silent("a", PROOF_MS)).as("one node said it twice").isEmpty();
        assertThat(silent("b", PROOF_MS))
                .contains(new Action.LeaderSilent(LEADER, ADDRESS, true, nowMs - Bounds.ANSWER_AGE_MS));
    }

    @Test
    void itIsSuspectedBeforeThatIsProved() {
        silent("a", PROOF_MS);
        assertThat(silent("b", PROOF_MS - 1)).get().returns(false, Action.LeaderSilent::proved);
        nowMs += 2 * Bounds.ANSWER_AGE_MS;
        silent("a", Bounds.SUSPECT_MS);
        assertThat(silent("b", Bounds.SUSPECT_MS)).as("too short").isEmpty();
    }

    @Test
    void anAnswerIsAsOldAsTheHeartbeatItAnswers() {
        silent("a", LEADER, 10_000, Bounds.ANSWER_AGE_MS + 1);
        assertThat(silent("b", 10_000))
                .as("the leader may have spoken to the first since")
                .isEmpty();
        silent("a", LEADER, 10_000, Bounds.ANSWER_AGE_MS);
        assertThat(silent("b", 10_000)).isPresent();
    }

    @Test
    void onlyWhatTheLeaderCountsTooIsCounted() {
        core.expectNodes(Map.of("a", "", "b", ""), nowMs);
        silent("a", 10_000);
        assertThat(silent("b", 10_000)).as("the leader may count the third").isEmpty();

        core.leaseSeen(1, Register.NONE.enrolled(Set.of("a", "b")).as(2), nowMs);
        assertThat(silent("b", 10_000)).as("nothing was counted before").isEmpty();
        assertThat(silent("a", 10_000)).isPresent();
    }

    private void ofEngines(Optional<Tenant> tenant, String... ids) {
        core.expectNodes(Map.of(), nowMs);
        Register register = Register.NONE;
        for (String id : ids) {
            core.closed(session(id), "it comes again", nowMs);
            core.nodeConnected(session(id), new NodePeer(id, session(id), "0.1.0", true, tenant), nowMs);
            register = register.lent(Map.of(id, tenant.orElse(Tenant.DEFAULT)));
        }
        core.leaseSeen(1, register.as(2), nowMs);
        core.drain();
    }

    @Test
    void whereThereAreEnginesOnlyMostOfThoseThatTheLeaseHasAreAsGood() {
        ofEngines(Optional.empty(), "x", "y", "z");
        assertThat(silent("x", PROOF_MS)).isEmpty();
        assertThat(silent("a", PROOF_MS)).as("the Lease does not have it").isEmpty();
        assertThat(silent("z", PROOF_MS)).get().returns(true, Action.LeaderSilent::proved);

        core.leaseSeen(
                1,
                Register.NONE
                        .lent(Map.of("x", Tenant.DEFAULT))
                        .enrolled(Set.of("node"))
                        .as(3),
                nowMs);
        assertThat(silent("x", PROOF_MS))
                .as("the leader may count a storage node")
                .isEmpty();
    }

    /** One tenant may have most of them, and would end one leader after the other. */
    @Test
    void enginesOfTenantsEndNoLeader() {
        ofEngines(Optional.of(Tenant.of("greedy")), "x", "y", "z");
        silent("x", 10_000);
        silent("y", 10_000);
        assertThat(silent("z", 10_000)).isEmpty();
    }

    @Test
    void wordsAboutDifferentLeadersDoNotAddUp() {
        silent("a", 10_000);
        assertThat(silent("b", new Authority(6, 66), 10_000, 1)).isEmpty();
        assertThat(silent("c", new Authority(6, 66), 10_000, 1))
                .get()
                .returns(new Authority(6, 66), Action.LeaderSilent::authority);
    }

    @Test
    void whatOneNodeSaysOfALaterLeaderMakesTheWordsOfOthersNoneOfThePast() {
        assertThat(silent("a", new Authority(LEADER.epoch() + 1, 99), 10_000, 1))
                .isEmpty();
        assertThat(silent("b", 10_000)).isEmpty();
        assertThat(silent("c", 10_000)).get().returns(LEADER, Action.LeaderSilent::authority);
    }

    @Test
    void anAnswerToWhatWasNotAskedEndsTheConnection() {
        core.receive(session("a"), new LeaderGone(LEADER, Departure.SILENT, 1, nowMs + 1, ADDRESS), nowMs);
        assertThat(core.drain()).anyMatch(it -> it instanceof Action.Close close && close.session() == session("a"));
    }
}
