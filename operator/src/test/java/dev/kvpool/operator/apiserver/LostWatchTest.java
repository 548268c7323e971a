// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import com.fasterxml.jackson.databind.deser.std.DelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.kvpool.operator.event.EventRecorder;
import dev.kvpool.operator.health.LostWatchCheck;
import dev.kvpool.operator.pool.KvCachePoolReconciler;
import dev.kvpool.operator.pool.report.PollInterval;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import io.javaoperatorsdk.operator.Operator;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponse.Status;
import org.junit.jupiter.api.Test;

/** A watch that meets what it cannot read ends for good; the operator is then not alive, and says which watch it was. */
class LostWatchTest {
    private static final String NAMESPACE = "lost-watch";
    private static final String UNREADABLE = "unreadable";
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final LostWatchCheck check = new LostWatchCheck();

    @Test
    void anOperatorThatSeesNoMorePodsIsNotAlive() {
        ApiServer.shared().createNamespace(NAMESPACE);
        SimpleModule module = new SimpleModule("unreadable").setDeserializerModifier(new Unreadable());
        try (KubernetesClient client = ApiServer.shared().client();
                KubernetesClient restricted = ApiServer.shared()
                        .operatorClient(new KubernetesSerialization(new ObjectMapper().registerModule(module), true))) {
            Operator operator = operator(restricted);
            try {
                operator.start();
                apply(client, "readable");
                assertThat(check.call().getStatus()).isEqualTo(Status.UP);

                apply(client, UNREADABLE);

                await().atMost(LIMIT).until(() -> check.call().getStatus() == Status.DOWN);
                HealthCheckResponse answer = check.call();
                assertThat(answer.getData().orElseThrow().get("trouble"))
                        .asString()
                        .startsWith("The watch of Pod has ended for good: ");
            } finally {
                operator.stop();
            }
        }
    }

    @Test
    void anOperatorThatStopsHasLostNothing() {
        try (KubernetesClient restricted = ApiServer.shared().operatorClient()) {
            Operator operator = operator(restricted);
            operator.start();
            operator.stop();
        }
        assertThat(check.call().getStatus()).isEqualTo(Status.UP);
    }

    private static void apply(KubernetesClient client, String name) {
        client.resource("""
                apiVersion: v1
                kind: Pod
                metadata:
                  name: %s
                  namespace: %s
                  labels: {app.kubernetes.io/managed-by: kvpool-operator, kvpool.dev/pool: demo}
                spec: {containers: [{name: a, image: a}]}
                """.formatted(name, NAMESPACE)).create();
    }

    private Operator operator(KubernetesClient restricted) {
        Operator operator = new Operator(configuration -> configuration
                .withKubernetesClient(restricted)
                .withCloseClientOnStop(false)
                .withInformerStoppedHandler(check));
        InstantSource clock = InstantSource.system();
        operator.register(
                new KvCachePoolReconciler(
                        new ScriptedMasters(),
                        OperatorUnderTest.SETTINGS,
                        new EventRecorder(restricted, clock, "test"),
                        clock,
                        PollInterval.DEFAULT),
                configuration -> configuration.settingNamespace(NAMESPACE));
        return operator;
    }

    /** Fails for pods of one name, as it would for what a newer API server sends and this build cannot read. */
    private static final class Unreadable extends BeanDeserializerModifier {
        private static final long serialVersionUID = 1L;

        @Override
        public JsonDeserializer<?> modifyDeserializer(
                DeserializationConfig config, BeanDescription type, JsonDeserializer<?> deserializer) {
            return type.getBeanClass() == Pod.class ? new Failing(deserializer) : deserializer;
        }
    }

    private static final class Failing extends DelegatingDeserializer {
        private static final long serialVersionUID = 1L;

        Failing(JsonDeserializer<?> whole) {
            super(whole);
        }

        @Override
        protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> whole) {
            return new Failing(whole);
        }

        @Override
        public Object deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            Pod pod = (Pod) super.deserialize(parser, context);
            if (pod.getMetadata().getName().equals(UNREADABLE)) {
                throw new IOException("this build does not know such a pod");
            }
            return pod;
        }
    }
}
