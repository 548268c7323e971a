// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.ObjectMetaBuilder;
import io.javaoperatorsdk.operator.api.reconciler.Constants;
import io.javaoperatorsdk.operator.processing.GroupVersionKind;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** What the watch makes of the order of events that the SDK promises; {@code StuckReconcilerTest} has a real one hang. */
class ReconciliationWatchTest {
    private static final Duration MOMENT = Duration.ofSeconds(1);
    private static final Map<String, Object> OF_POOLS =
            Map.of(Constants.RESOURCE_GVK_KEY, GroupVersionKind.gvkFor(KvCachePool.class));

    private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - MOMENT.toNanos());
    private final ReconciliationWatch watch = new ReconciliationWatch(nanos::get);

    @Test
    void anOperatorThatHasNothingToDoIsWell() {
        pass(Duration.ofDays(300));

        assertThat(watch.trouble()).isEmpty();
    }

    @Test
    void aReconciliationMayTakeItsTimeButNotLonger() {
        submit("a");
        start("a");

        pass(ReconciliationWatch.RUN_LIMIT);
        assertThat(watch.trouble()).isEmpty();
        pass(MOMENT);

        assertThat(watch.trouble())
                .contains("The reconciliation of KvCachePool team/a has run for 301 s, longer than 300 s.");
    }

    @Test
    void whatEndsIsWellAgain() {
        submit("a");
        start("a");
        pass(ReconciliationWatch.RUN_LIMIT.plus(MOMENT));

        finish("a");

        assertThat(watch.trouble()).isEmpty();
    }

    @Test
    void aQueueThatDoesNotMoveIsNoticed() {
        submit("a");

        pass(ReconciliationWatch.WAIT_LIMIT);
        assertThat(watch.trouble()).isEmpty();
        pass(MOMENT);

        assertThat(watch.trouble())
                .contains("KvCachePool team/a has waited for its reconciliation for 601 s, longer than 600 s.");
    }

    @Test
    void theNextReconciliationMayBeSubmittedBeforeThisOneHasEnded() {
        submit("a");
        start("a");
        submit("a");
        finish("a");
        pass(ReconciliationWatch.WAIT_LIMIT.plus(MOMENT));

        assertThat(watch.trouble().orElseThrow()).contains("team/a has waited");
    }

    @Test
    void timersThatDoNotFireAreNoticed() {
        submit("a");
        start("a");
        finish("a");

        pass(ReconciliationWatch.STILL_LIMIT);
        assertThat(watch.trouble()).isEmpty();
        pass(MOMENT);

        assertThat(watch.trouble()).contains("None of 1 resources was reconciled for 901 s, longer than 900 s.");
    }

    @Test
    void aResourceThatIsGoneIsNotMissed() {
        submit("a");
        start("a");
        finish("a");
        submit("a");
        watch.cleanupDone(new ResourceID("a", "team"), OF_POOLS);

        pass(Duration.ofDays(1));

        assertThat(watch.trouble()).isEmpty();
    }

    @Test
    void aResourceThatWasGoneBeforeItsTurnIsNotMissed() {
        submit("a");
        finish("a");
        watch.cleanupDone(new ResourceID("a", "team"), OF_POOLS);

        pass(Duration.ofDays(1));

        assertThat(watch.trouble()).isEmpty();
    }

    @Test
    void aListThatWaitsForItsPoolsEndMayRestForEver() {
        ConfigMap list = new ConfigMapBuilder()
                .withNewMetadata()
                .withName("demo-directories")
                .withNamespace("team")
                .endMetadata()
                .build();
        watch.reconciliationSubmitted(list, null, Map.of());
        watch.reconciliationStarted(list, Map.of());
        watch.reconciliationFinished(list, null, Map.of());

        pass(Duration.ofDays(1));

        assertThat(watch.trouble()).isEmpty();
    }

    @Test
    void theFirstPoolAfterALongRestHasAllTheTime() {
        pass(Duration.ofDays(1));
        submit("a");
        start("a");
        finish("a");

        assertThat(watch.trouble()).isEqualTo(Optional.empty());
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private void submit(String name) {
        watch.reconciliationSubmitted(pool(name), null, OF_POOLS);
    }

    private void start(String name) {
        watch.reconciliationStarted(pool(name), OF_POOLS);
    }

    private void finish(String name) {
        watch.reconciliationFinished(pool(name), null, OF_POOLS);
    }

    private static KvCachePool pool(String name) {
        KvCachePool pool = new KvCachePool();
        pool.setMetadata(
                new ObjectMetaBuilder().withName(name).withNamespace("team").build());
        return pool;
    }
}
