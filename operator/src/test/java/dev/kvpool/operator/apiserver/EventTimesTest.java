// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.event.recorder.EventRecorder;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The API server takes events of every microsecond, also of one that ends in zeros. */
class EventTimesTest {
    private static final String NAMESPACE = "event-times";

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
