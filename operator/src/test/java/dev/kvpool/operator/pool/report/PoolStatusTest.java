// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.api.v1alpha1.status.ScaleStatus;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The status that follows from an observation, and the events a step is worth. */
class PoolStatusTest {
    private static final Instant NOON = Instant.parse("2026-01-01T12:00:00Z");
    private static final Instant LATER = Instant.parse("2026-01-01T13:00:00Z");
    private static final Outcome NOTHING_DONE = new Outcome(List.of(), List.of());
    private static final String SPEC = "{storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final PoolReport ALL_READY = PoolSketch.leader(List.of(
            PoolSketch.node("demo-a-0", "ready", "", 300L << 20, 123),
            PoolSketch.node("demo-a-1", "ready", "", 300L << 20, 0)));
    private static final PoolReport ONE_AWAY = PoolSketch.leader(List.of(
            PoolSketch.node("demo-a-0", "ready", "", 0, 0),
            PoolSketch.node("demo-a-1", "away", "no connection for 12 s", 0, 0)));

    @Test
    void aPoolThatServesIsReady() {
        KvCachePoolStatus status = next(whole(ALL_READY), NOON);

        assertThat(status.phase()).isEqualTo(PoolPhase.READY);
        assertThat(reasons(status))
                .containsExactly(
                        "Complete",
                        "Serving",
                        "UpToDate",
                        "Valid",
                        "Applied",
                        "Elected",
                        "AllNodesReady",
                        "SameVersion",
                        "NoUpgrade",
                        "NoDrain");
        assertThat(status.message())
                .isEqualTo("The pool serves: 2 of 2 storage nodes and 2 of 2 masters are ready. demo-master-0 leads in"
                        + " epoch 1.");
        assertThat(status.leader().pod()).isEqualTo("demo-master-0");
        assertThat(status.capacity()).hasToString("2Gi");
        assertThat(status.used()).hasToString("600Mi");
        assertThat(status.objects()).isEqualTo(120);
        assertThat(status.protocols()).containsExactly("shm", "tcp");
        assertThat(status.version().running()).isEqualTo("0.1.0");
    }

    @Test
    void aSlowlyChangingPoolKeepsItsStatus() {
        KvCachePoolStatus before = next(whole(ALL_READY), NOON);
        PoolReport slightlyFuller = PoolSketch.leader(List.of(
                PoolSketch.node("demo-a-0", "ready", "", 310L << 20, 123),
                PoolSketch.node("demo-a-1", "ready", "", 300L << 20, 0)));

        assertThat(next(whole(slightlyFuller).status(before), LATER)).isEqualTo(before);
    }

    @Test
    void aFullerPoolShowsIt() {
        KvCachePoolStatus before = next(whole(ALL_READY), NOON);
        PoolReport fuller = PoolSketch.leader(List.of(
                PoolSketch.node("demo-a-0", "ready", "", 700L << 20, 500),
                PoolSketch.node("demo-a-1", "ready", "", 300L << 20, 0)));

        assertThat(next(whole(fuller).status(before), LATER).used()).hasToString("1000Mi");
    }

    @Test
    void aMissingNodeIsNamedWithItsReason() {
        KvCachePoolStatus ready = next(whole(ALL_READY), NOON);

        KvCachePoolStatus status = next(whole(ONE_AWAY).status(ready), LATER);

        assertThat(status.phase()).isEqualTo(PoolPhase.DEGRADED);
        assertThat(status.storage().summary()).isEqualTo("1/2");
        assertThat(status.message())
                .isEqualTo(
                        "The pool serves what it has. 1 of 2 storage nodes are ready. demo-a-1 is away: no connection"
                                + " for 12 s.");
    }

    @Test
    void aNodeThatIsSetApartIsNamedWithWhatTheLeaderSays() {
        PoolReport apart = PoolSketch.leader(List.of(
                PoolSketch.node("demo-a-0", "ready", "", 0, 0),
                PoolSketch.node(
                        "demo-a-1",
                        "set_apart",
                        "set apart for 2 s, less when its process is replaced: gap in the stream",
                        0,
                        0)));

        assertThat(message(next(whole(apart), NOON), Reason.NODE_SET_APART))
                .isEqualTo(
                        "1 of 2 storage nodes are ready. demo-a-1 is set apart for 2 s, less when its process is replaced:"
                                + " gap in the stream.");
    }

    @Test
    void whoIsWaitedForSinceNobodyKnowsWhatWasRemovedIsNamed() {
        PoolReport awaiting = Reports.awaiting(
                List.of("demo-a-1"),
                List.of("demo-a-0"),
                PoolSketch.leader(List.of(
                        PoolSketch.node("demo-a-0", "ready", "", 0, 0),
                        PoolSketch.node("demo-a-1", "away", "", 0, 0))));

        KvCachePoolStatus status = next(whole(awaiting), NOON);

        assertThat(message(status, Reason.AWAITS_WITNESS))
                .isEqualTo(
                        "1 of 2 storage nodes are ready. demo-a-0 missed removals or replacements since 2026-01-01T11:00:00Z at"
                                + " the latest. Until it has caught up, what it held before is checked or unavailable. Which objects were removed"
                                + " is unknown, and removals fail, until one of these nodes is back with its memory: demo-a-1. For those that"
                                + " will not be: kubectl kvpool forget demo NODE.");
    }

    @Test
    void whoIsBehindSinceWhenIsSaidAlsoWhileNobodyIsWaitedFor() {
        PoolReport away = PoolSketch.leader(
                List.of(PoolSketch.node("demo-a-0", "ready", "", 0, 0), PoolSketch.node("demo-a-1", "away", "", 0, 0)));

        KvCachePoolStatus status = next(whole(Reports.behind(List.of("demo-a-0"), List.of("demo-a-1"), away)), NOON);

        assertThat(message(status, Reason.NODES_NOT_READY))
                .isEqualTo(
                        "1 of 2 storage nodes are ready. demo-a-1 missed removals or replacements since 2026-01-01T11:00:00Z at"
                                + " the latest. Until it has caught up, what it held before is checked or unavailable. demo-a-1 is away.");
    }

    @Test
    void aFullIndexIsSaidBesideNodesThatAreReady() {
        PoolReport full = Reports.full("the index is full: give the masters more memory", ALL_READY);

        KvCachePoolStatus status = next(whole(full), NOON);

        assertThat(message(status, Reason.INDEX_FULL))
                .isEqualTo(
                        "2 of 2 storage nodes are ready. Master demo-master-0 refuses puts: the index is full: give the"
                                + " masters more memory.");
        assertThat(status.phase()).isEqualTo(PoolPhase.READY);
    }

    @Test
    void aNodeThatIsNotExpectedStandsInForNoOther() {
        PoolReport withAnother = PoolSketch.leader(List.of(
                PoolSketch.node("demo-a-0", "ready", "", 0, 0),
                PoolSketch.node("demo-a-1", "away", "no connection for 12 s", 0, 0),
                PoolSketch.node("demo-old-0", "ready", "", 0, 0),
                PoolSketch.node("demo-old-1", "away", "no connection for 13 s", 0, 0)));

        KvCachePoolStatus status = next(whole(withAnother), NOON);

        assertThat(status.storage().summary()).isEqualTo("1/2");
        assertThat(message(status, Reason.NODES_NOT_READY))
                .isEqualTo("1 of 2 storage nodes are ready. demo-a-1 is away: no connection for 12 s.");
    }

    @Test
    void withoutALeaderOnlyPodsOfExpectedNodesCount() {
        PoolSketch sketch = new PoolSketch(SPEC)
                .emptySet("a", 2)
                .pod(PoolSketch.pod("demo-a-0", PoolLabels.ROLE_STORAGE, "a", true, "new"))
                .pod(PoolSketch.pod("demo-old-0", PoolLabels.ROLE_STORAGE, "old", true, "new"));

        assertThat(next(sketch, NOON).storage().summary()).isEqualTo("1/2");
    }

    @Test
    void atFirstAMissingNodeIsPartOfStarting() {
        assertThat(next(whole(ONE_AWAY), NOON).phase()).isEqualTo(PoolPhase.STARTING);
    }

    @Test
    void aPoolWithoutLeaderIsUnavailableAndKeepsWhatWasKnown() {
        KvCachePoolStatus ready = next(whole(ALL_READY), NOON);

        KvCachePoolStatus status = next(
                new PoolSketch(SPEC)
                        .set("a", 2)
                        .lease("demo-master-0", 1)
                        .silent("demo-master-0")
                        .status(ready),
                LATER);

        assertThat(status.phase()).isEqualTo(PoolPhase.UNAVAILABLE);
        assertThat(status.message())
                .isEqualTo("The pool does not serve. demo-master-0 holds the Lease and does not answer: the connection"
                        + " failed.");
        assertThat(status.used()).isEqualTo(ready.used());
        assertThat(status.version().running()).isEqualTo("0.1.0");
    }

    @Test
    void twoMastersThatSayTheyLeadAreNamedAndThePoolServes() {
        PoolReport other = Reports.leader("demo-master-1", 2, List.of())
                .with("poolId", PoolSketch.UID)
                .build();

        KvCachePoolStatus status = next(whole(ALL_READY).says("demo-master-1", other), NOON);

        assertThat(message(status, Reason.SEVERAL_LEADERS))
                .isEqualTo(
                        "demo-master-0 in epoch 1, demo-master-1 in epoch 2 say that they lead. Storage nodes accept the highest"
                                + " epoch only.");
        assertThat(reasons(status)).startsWith("Complete", "Serving");
    }

    @Test
    void aMissingStandbyIsNoReasonNotToBeAvailable() {
        KvCachePoolStatus status = next(new PoolSketch(SPEC).set("a", 2).masters(1, 1, ALL_READY), NOON);

        assertThat(status.phase()).isEqualTo(PoolPhase.DEGRADED);
        assertThat(reasons(status)).startsWith("PartsMissing", "ServingWithoutStandby");
    }

    @Test
    void aHeldBackChangeMakesAReadyPoolWait() {
        PoolSketch sketch =
                whole(ALL_READY).pod(PoolSketch.pod("demo-a-1", PoolLabels.ROLE_STORAGE, "a", true, "earlier"));

        KvCachePoolStatus status = next(sketch, NOON);

        assertThat(status.phase()).isEqualTo(PoolPhase.WAITING);
        assertThat(status.message())
                .contains(
                        "demo-a-1 still runs with earlier settings: replacing it would lose about 300Mi in 0 objects.")
                .contains("onDataLoss");
    }

    @Test
    void aNodeThatIsBeingEmptiedServesAndThePoolWaits() {
        PoolReport emptying = PoolSketch.leader(List.of(
                PoolSketch.node("demo-a-0", "ready", "", 300L << 20, 123),
                PoolSketch.node("demo-a-1", "draining", "", 300L << 20, 0)));
        PoolSketch sketch = new PoolSketch("{replicas: 1, storage: [{name: a, capacity: 1Gi}]}")
                .set("a", 2)
                .masters(2, 1, emptying);

        KvCachePoolStatus status = next(sketch, NOON);

        assertThat(status.phase()).isEqualTo(PoolPhase.WAITING);
        assertThat(reasons(status))
                .startsWith("NotCarriedOut", "Serving", "CarryingOut")
                .contains("AllNodesReady", "WaitsForDrain", "Emptying");
        assertThat(status.message()).isEqualTo("Storage set a keeps 2 nodes instead of 1 until demo-a-1 is empty.");
        assertThat(status.scale())
                .isEqualTo(new ScaleStatus("a", 2, "kvpool.dev/pool=demo,kvpool.dev/role=storage,kvpool.dev/set=a"));
        assertThat(PoolNotices.of(KvCachePoolStatus.EMPTY, status, NOTHING_DONE))
                .contains(new Notice(EventReason.DRAIN_STARTED, "demo-a-1 is to go and is being emptied."));
    }

    @Test
    void otherVersionsThanWantedAreNamed() {
        KvCachePoolStatus status = next(
                new PoolSketch("{version: 0.2.0, image: 'registry.example/kvpool:0.1.0',"
                                + " storage: [{name: a, capacity: 1Gi, replicas: 2}]}")
                        .set("a", 2)
                        .masters(2, 1, ALL_READY),
                NOON);

        assertThat(message(status, Reason.VERSION_DIFFERS))
                .isEqualTo(
                        "The masters run 0.1.0, but the spec says 0.2.0. Image registry.example/kvpool:0.1.0 must contain that"
                                + " version.");
    }

    @Test
    void aRefusedNodeIsNamedWithItsReason() {
        PoolReport refused = PoolSketch.leader(List.of(
                PoolSketch.node("demo-a-0", "ready", "", 0, 0),
                PoolSketch.node("demo-a-1", "refused", "it speaks wire 2 to 3, this master 1 to 1", 0, 0)));

        assertThat(message(next(whole(refused), NOON), Reason.NODE_REFUSED))
                .isEqualTo("demo-a-1 and the masters refuse each other: it speaks wire 2 to 3, this master 1 to 1.");
    }

    @Test
    void aFailureToApplyIsTheMessage() {
        PoolSketch sketch = whole(ALL_READY);
        Outcome failed =
                new Outcome(List.of(), List.of(new Finding(Reason.APPLY_FAILED, "Service demo-leader: refused")));

        KvCachePoolStatus status =
                new PoolStatus(PoolSketch.SETTINGS).next(sketch.observation(), List.of(), sketch.plan(), failed);

        assertThat(message(status, Reason.APPLY_FAILED)).isEqualTo("Service demo-leader: refused");
    }

    @Test
    void becomingReadyIsOneEventAndStayingReadyNone() {
        KvCachePoolStatus starting = next(whole(ONE_AWAY), NOON);
        KvCachePoolStatus ready = next(whole(ALL_READY).status(starting), LATER);

        assertThat(PoolNotices.of(starting, ready, NOTHING_DONE))
                .extracting(Notice::reason)
                .containsExactly(EventReason.READY);
        assertThat(PoolNotices.of(ready, ready, NOTHING_DONE)).isEmpty();
    }

    @Test
    void aNewLeaderIsAnEvent() {
        KvCachePoolStatus before = next(whole(ALL_READY), NOON);
        KvCachePoolStatus after = next(
                whole(ALL_READY)
                        .lease("demo-master-1", 2)
                        .says("demo-master-1", ALL_READY)
                        .silent("demo-master-0")
                        .status(before),
                NOON);

        assertThat(PoolNotices.of(before, after, NOTHING_DONE))
                .containsExactly(new Notice(EventReason.LEADER_CHANGED, "demo-master-1 leads in epoch 2."));
    }

    @Test
    void aLostPoolIsAWarning() {
        KvCachePoolStatus ready = next(whole(ALL_READY), NOON);
        KvCachePoolStatus lost = next(new PoolSketch(SPEC).set("a", 2).status(ready), LATER);

        assertThat(PoolNotices.of(ready, lost, NOTHING_DONE)).singleElement().satisfies(notice -> {
            assertThat(notice.reason()).isEqualTo(EventReason.NOT_READY);
            assertThat(notice.reason().type()).isEqualTo("Warning");
            assertThat(notice.note()).startsWith("The pool does not serve. No master holds the Lease demo-master");
        });
    }

    private static PoolSketch whole(PoolReport report) {
        return new PoolSketch(SPEC).set("a", 2).masters(2, 1, report);
    }

    private static KvCachePoolStatus next(PoolSketch sketch, Instant now) {
        PoolObservation seen = sketch.at(now).observation();
        return new PoolStatus(PoolSketch.SETTINGS)
                .next(seen, PoolValidator.validate(seen, PoolSketch.SETTINGS), sketch.plan(), NOTHING_DONE);
    }

    private static List<String> reasons(KvCachePoolStatus status) {
        return status.conditions().stream().map(Condition::reason).toList();
    }

    private static String message(KvCachePoolStatus status, Reason reason) {
        return status.conditions().stream()
                .filter(condition -> condition.reason().equals(reason.text()))
                .findFirst()
                .orElseThrow()
                .message();
    }
}
