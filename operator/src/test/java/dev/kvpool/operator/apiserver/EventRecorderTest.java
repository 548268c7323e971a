// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.event.recorder.EventRecorder;
import dev.kvpool.operator.pool.PoolSketch;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the API server takes and keeps of events. */
class EventRecorderTest {
    private static final String NAMESPACE = "event-times";
    private static final Notice FINISHED = new Notice(EventReason.UPGRADE_FINISHED, "All of the pool runs kvpool:2.");

    /** An operator that ended between the event and the status that follows from it had the next one tell it again. */
    @Test
    void whatAnotherOperatorToldAboutTheSameVersionIsNotToldAgain() {
        try (KubernetesClient client = ApiServer.shared().client()) {
            ApiServer.shared().createNamespace("event-once");
            EventRecorder before = new EventRecorder(client, InstantSource.system(), "before");
            EventRecorder after = new EventRecorder(client, InstantSource.system(), "after");

            before.publish(version("event-once", "7"), FINISHED);
            after.publish(version("event-once", "7"), FINISHED);
            assertThat(reasons(client, "event-once")).containsExactly("UpgradeFinished");

            after.publish(version("event-once", "7"), new Notice(EventReason.READY, "It serves."));
            after.publish(version("event-once", "8"), FINISHED);
            assertThat(reasons(client, "event-once"))
                    .containsExactlyInAnyOrder("UpgradeFinished", "Ready", "UpgradeFinished");
        }
    }

    /** The API server refused the status, as a user had changed the pool meanwhile. */
    @Test
    void whatFollowsFromTheSameStatusOfAnotherVersionIsNotToldAgain() {
        try (KubernetesClient client = ApiServer.shared().client()) {
            ApiServer.shared().createNamespace("event-status");
            EventRecorder recorder = new EventRecorder(client, InstantSource.system(), "test");

            recorder.publish(pool("7", "demo-a-1"), FINISHED);
            recorder.publish(pool("8", "demo-a-1"), FINISHED);
            assertThat(reasons(client, "event-status")).containsExactly("UpgradeFinished");

            recorder.publish(pool("9", "demo-a-0"), FINISHED);
            assertThat(reasons(client, "event-status")).hasSize(2);
        }
    }

    private static KvCachePool pool(String version, String step) {
        KvCachePool pool = new KvCachePool();
        pool.setMetadata(version("event-status", version).getMetadata());
        pool.setStatus(PoolSketch.statusWith(
                List.of(PoolSketch.emptying(step, StepState.EMPTY, "2026-01-01T12:00:00Z", null))));
        return pool;
    }

    @Test
    void whatWasChangedAgainIsToldAgain() {
        try (KubernetesClient client = ApiServer.shared().client()) {
            ApiServer.shared().createNamespace("event-again");
            EventRecorder recorder = new EventRecorder(client, InstantSource.system(), "test");
            Notice changed = new Notice(EventReason.CHANGED, "Changed ConfigMap demo-client.");

            recorder.publish(version("event-again", "9"), changed);
            recorder.publish(version("event-again", "9"), changed);

            assertThat(reasons(client, "event-again")).containsExactly("Changed", "Changed");
        }
    }

    private static HasMetadata version(String namespace, String version) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName("demo")
                .withNamespace(namespace)
                .withUid("u")
                .withResourceVersion(version)
                .endMetadata()
                .build();
    }

    private static List<String> reasons(KubernetesClient client, String namespace) {
        return client.resources(Event.class).inNamespace(namespace).list().getItems().stream()
                .map(Event::getReason)
                .toList();
    }

    /** Of every microsecond, also of one that ends in zeros. */
    @ParameterizedTest
    @CsvSource({
        "2026-01-01T12:00:00Z, 2026-01-01T12:00:00.000000Z, whole",
        "2026-01-01T12:00:00.179Z, 2026-01-01T12:00:00.179000Z, milli",
        "2026-01-01T12:00:00.179123999Z, 2026-01-01T12:00:00.179123Z, nano"
    })
    void anEventOfThisTimeIsStored(String now, String stored, String about) {
        try (KubernetesClient client = ApiServer.shared().client()) {
            String namespace = NAMESPACE + "-" + about;
            ApiServer.shared().createNamespace(namespace);
            HasMetadata object = new ConfigMapBuilder()
                    .withNewMetadata()
                    .withName(about)
                    .withNamespace(namespace)
                    .endMetadata()
                    .build();

            new EventRecorder(client, InstantSource.fixed(Instant.parse(now)), "test")
                    .publish(object, new Notice(EventReason.READY, "It serves."));

            assertThat(client.resources(Event.class)
                            .inNamespace(namespace)
                            .list()
                            .getItems())
                    .extracting(event -> event.getEventTime().getTime())
                    .containsExactly(stored);
        }
    }
}
