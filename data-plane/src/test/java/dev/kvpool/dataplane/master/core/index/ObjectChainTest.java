// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Where new objects stand among those that were used, and what walks see of them. */
class ObjectChainTest {
    private static final long LEASE_MS = 10_000;
    private final Index index = new Index(1, new Random(1));
    private final NodeView node = new NodeView("n");
    private long nowMs = 1_800_000_000_000L;

    @BeforeEach
    void threeObjectsOfWhichOneWasUsed() {
        index.beginSnapshot(node);
        put(1, 2, 3);
        use(2);
        assertThat(order()).containsExactly(1, 3, 2);
    }

    @Test
    void aNewObjectStandsInFrontOfThoseThatWereUsed() {
        put(4);
        assertThat(order()).containsExactly(1, 3, 4, 2);
    }

    @Test
    void aWalkMissesNothingThatIsUsedMeanwhile() {
        ObjectChain.Walk walk = index.recency().fromFirst();
        toTheEndBut(2, walk);
        use(3);
        assertThat(numbers(walk)).containsExactly(2, 3);
        assertThat(order()).containsExactly(1, 2, 3);
        put(4);
        assertThat(order()).as("before the walk has ended").containsExactly(1, 4, 2, 3);
    }

    @Test
    void whatComesIsFoundByWhoeverWaitsForIt() {
        ObjectChain.StraightWalk whatComes = index.recency().throughWhatComes();
        put(4, 5);
        ObjectChain.Walk eviction = whatComes.evictFromHere();
        assertThat(numbers(eviction)).containsExactly(4, 5);
        eviction.end();
        put(6);
        assertThat(order()).endsWith(6);
        assertThat(numbers(whatComes)).containsExactly(4, 5, 6);
    }

    @Test
    void anEvictionThatHasComeToTheEndOfItsPartGoesOnWithIt() {
        ObjectChain.Walk eviction = index.evict();
        toTheEndBut(1, eviction);
        put(4);
        assertThat(order()).containsExactly(1, 3, 4, 2);
        assertThat(numbers(eviction)).containsExactly(4, 2);
    }

    @Test
    void whatIsPutAfterAPurgeStandsBehindWhatWasPurged() {
        index.purge(new ObjectId(1, 4));
        put(4);
        assertThat(order()).endsWith(4);
        index.forgetPurged(3);
        assertThat(order()).containsExactly(4);
        put(5);
        assertThat(order()).containsExactly(4, 5);
    }

    @Test
    void whatIsUsedAfterAPurgeStandsBehindWhatWasPurged() {
        index.purge(new ObjectId(1, 4));
        put(4, 5);
        use(4);
        assertThat(order()).containsExactly(1, 3, 2, 5, 4);
        index.touch(object(1));
        assertThat(order()).as("what was purged").containsExactly(1, 3, 2, 5, 4);
    }

    @Test
    void anEvictionGoesOnWhereWhatItWasToSeeNextHasGone() {
        put(4);
        ObjectChain.Walk eviction = index.evict();
        assertThat(eviction.next()).isEqualTo(object(1));
        use(3);
        index.doom(object(2), Cause.REMOVED);
        assertThat(numbers(eviction)).containsExactly(4, 3);
    }

    @Test
    void whatIsTouchedIsNotUsed() {
        index.touch(object(1));
        assertThat(order()).containsExactly(3, 1, 2);
        use(3);
        assertThat(order()).containsExactly(1, 2, 3);
    }

    @Test
    void aUseThatIsPartOfAnotherDoesNotCount() {
        useUntil(1, 9_000);
        use(3);
        assertThat(order()).containsExactly(2, 1, 3);
    }

    @Test
    void whatIsUsedAllTheTimeCountsAsOftenAsWhatIsUsedNowAndThen() {
        useUntil(1, 30_000);
        for (int i = 0; i < 3; i++) {
            use(3);
        }
        use(2);
        assertThat(order()).containsExactly(2, 3, 1);
    }

    @Test
    void longLeasesHoldNoUsesBack() {
        use(1, 0, 86_400_000);
        use(1, 10_000, 86_400_000);
        use(3);
        assertThat(order()).containsExactly(2, 3, 1);
    }

    @Test
    void withoutLeasesEachRequestIsAUse() {
        use(1, nowMs, 0);
        use(1, nowMs, 0);
        use(3);
        assertThat(order()).containsExactly(2, 3, 1);
    }

    @Test
    void aNewLeaderKnowsNothingOfUses() {
        index.serve(true, List.of(node));
        put(4);
        assertThat(order()).containsExactly(1, 3, 2, 4);
    }

    @Test
    void whatIsPublishedAgainIsNewAgain() {
        put(4);
        StoredObject used = object(2);
        index.unsettle(used);
        index.publish(used, 1);
        assertThat(order()).containsExactly(1, 3, 4, 2);
        use(3);
        assertThat(order()).containsExactly(1, 4, 2, 3);
        index.doom(object(3), Cause.REMOVED);
        put(5);
        assertThat(order()).containsExactly(1, 4, 2, 5);
    }

    @Test
    void whatIsFoundIsNoUseAndPartOfNoPrompt() {
        index.serve(true, List.of(node));
        index.setRoom(1);
        for (int i = 0; i < 3; i++) {
            use(2);
        }
        index.doom(object(2), Cause.EVICTED);
        index.commit(node, line(4, "k2"));
        index.publishFound(object(4), 1);
        put(5);
        index.endPrompt();
        use(1);
        assertThat(order()).containsExactly(3, 4, 5, 1);
    }

    @Test
    void whatCouldNotBeRemovedCountsAsOftenAsBefore() {
        index.serve(true, List.of(node));
        use(2);
        use(3);
        StoredObject object = object(2);
        index.doom(object, Cause.REMOVED);
        index.publishFound(object, object.wanted());
        assertThat(order()).containsExactly(1, 3, 2);
    }

    private void use(int number) {
        nowMs += LEASE_MS;
        use(number, nowMs, LEASE_MS);
    }

    private void use(int number, long atMs, long leaseMs) {
        index.used(object(number), atMs, leaseMs);
        index.endPrompt();
    }

    /** It is leased all the time. */
    private void useUntil(int number, long untilMs) {
        for (long at = 0; at <= untilMs; at += 1_000) {
            use(number, nowMs + at, LEASE_MS);
            index.lease(object(number), nowMs + at + LEASE_MS);
        }
        nowMs += untilMs;
    }

    private void put(int... numbers) {
        for (int number : numbers) {
            index.commit(node, line(number));
            index.publish(object(number), 1);
        }
    }

    private StoredObject object(int number) {
        return index.object(new StoredObject.Name(new ObjectId(1, number), Tenant.DEFAULT));
    }

    private void toTheEndBut(int left, ObjectChain.Walk walk) {
        for (int i = index.publishedCount(); i > left; i--) {
            walk.next();
        }
    }

    private List<Integer> order() {
        return StreamSupport.stream(index.recency().spliterator(), false)
                .map(object -> (int) object.id().counter())
                .toList();
    }

    private static List<Integer> numbers(ObjectChain.Walk walk) {
        List<Integer> numbers = new ArrayList<>();
        for (StoredObject object = walk.next(); object != null; object = walk.next()) {
            numbers.add((int) object.id().counter());
        }
        return numbers;
    }

    private static DirectoryRecord line(int number) {
        return line(number, "k" + number);
    }

    private static DirectoryRecord line(int number, String key) {
        return DirectoryRecord.committed(
                new ExtentRef(0, number, 1), new ObjectId(1, number), number * 4096L, 4096, 100, number, Key.of(key));
    }
}
