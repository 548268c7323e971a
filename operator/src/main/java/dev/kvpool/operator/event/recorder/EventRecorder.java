// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.event.recorder;

import dev.kvpool.operator.event.Notice;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.MicroTime;
import io.fabric8.kubernetes.api.model.ObjectReferenceBuilder;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.InstantSource;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.util.Locale;
import org.jboss.logging.Logger;

/** Publishes events. One that cannot be published is logged and forgotten: the status says the same, for longer. */
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
        LOG.infof(
                "%s %s/%s: %s: %s",
                about.getKind(),
                about.getMetadata().getNamespace(),
                about.getMetadata().getName(),
                notice.reason().text(),
                notice.note());
        try {
            client.resource(event(about, notice)).create();
        } catch (KubernetesClientException e) {
            LOG.warnf("event %s was not published: %s", notice.reason().text(), e.getMessage());
        }
    }

    private Event event(HasMetadata about, Notice notice) {
        String note = notice.note();
        return new EventBuilder()
                .withNewMetadata()
                .withGenerateName(about.getMetadata().getName() + "-")
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
