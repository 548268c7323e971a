// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.event.recorder;

import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.net.HttpURLConnection;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.jboss.logging.Logger;

/**
 * Publishes events. One that cannot be published is logged and forgotten: the status says the same, for longer. What follows from the same
 * status is published once: a cache may show it once more after the next one was written, or that was refused, or the operator
 * ended before it wrote it, and then the same decision is made again. What was changed again is told again.
 */
public final class EventRecorder {
    private static final Logger LOG = Logger.getLogger(EventRecorder.class);
    private static final String CONTROLLER = "kvpool.dev/operator";
    private static final String ACTION = "Reconcile";

    /** The API server wants six digits, also where the last ones are zeros. */
    private static final DateTimeFormatter MICROSECONDS =
            new DateTimeFormatterBuilder().appendInstant(6).toFormatter(Locale.ROOT);

    /** Limit of the API. */
    private static final int NOTE_LENGTH_MAX = 1024;

    private final KubernetesClient client;
    private final InstantSource clock;
    private final String instance;

    /**
     * Makes a recorder.
     *
     * @param instance name of this operator process, normally its pod's
     */
    public EventRecorder(KubernetesClient client, InstantSource clock, String instance) {
        this.client = client;
        this.clock = clock;
        this.instance = instance;
    }

    public void publish(HasMetadata about, Notice notice) {
        try {
            client.resource(event(about, notice)).create();
        } catch (KubernetesClientException e) {
            if (e.getCode() == HttpURLConnection.HTTP_CONFLICT) {
                return;
            }
            LOG.warnf("event %s was not published: %s", notice.reason().text(), e.getMessage());
        }
        LOG.infof(
                "%s %s/%s: %s: %s",
                about.getKind(),
                about.getMetadata().getNamespace(),
                about.getMetadata().getName(),
                notice.reason().text(),
                notice.note());
    }

    private static String name(HasMetadata about, Notice notice) {
        ObjectMeta meta = about.getMetadata();
        String same = String.join(
                "/",
                List.of(
                        String.valueOf(meta.getUid()),
                        about instanceof CustomResource<?, ?> decided
                                ? String.valueOf(decided.getStatus())
                                : String.valueOf(meta.getResourceVersion()),
                        notice.reason().text(),
                        notice.note()));
        UUID id = notice.reason() == EventReason.CHANGED
                ? UUID.randomUUID()
                : UUID.nameUUIDFromBytes(same.getBytes(StandardCharsets.UTF_8));
        return meta.getName() + "-" + id;
    }

    private Event event(HasMetadata about, Notice notice) {
        String note = notice.note();
        return new EventBuilder()
                .withNewMetadata()
                .withName(name(about, notice))
                .withNamespace(about.getMetadata().getNamespace())
                .endMetadata()
                .withEventTime(new MicroTime(MICROSECONDS.format(clock.instant())))
                .withReportingController(CONTROLLER)
                .withReportingInstance(instance)
                .withAction(ACTION)
                .withType(notice.reason().type())
                .withReason(notice.reason().text())
                .withNote(note.length() <= NOTE_LENGTH_MAX ? note : note.substring(0, NOTE_LENGTH_MAX))
                .withRegarding(new ObjectReferenceBuilder()
                        .withApiVersion(about.getApiVersion())
                        .withKind(about.getKind())
                        .withName(about.getMetadata().getName())
                        .withNamespace(about.getMetadata().getNamespace())
                        .withUid(about.getMetadata().getUid())
                        .build())
                .build();
    }
}
