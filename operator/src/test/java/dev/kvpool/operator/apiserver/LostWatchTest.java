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
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** A watch that meets what it cannot read ends for good; the operator is then not alive, and says which watch it was. */
class LostWatchTest {
    private static final String NAMESPACE = "lost-watch";
    private static final String UNREADABLE = "unreadable";

    @Test
    void anOperatorThatSeesNoMorePodsIsNotAlive() {
        SimpleModule module = new SimpleModule("unreadable").setDeserializerModifier(new Unreadable());
        KubernetesClient restricted = ApiServer.shared()
                .operatorClient(new KubernetesSerialization(new ObjectMapper().registerModule(module), true));
        try (OperatorUnderTest operator = OperatorUnderTest.in(NAMESPACE)
                .reaching(restricted, new RequestedRights())
                .start()) {
            create(operator.client(), "readable");
            assertThat(operator.dead()).isEmpty();

            create(operator.client(), UNREADABLE);

            await().untilAsserted(() -> assertThat(operator.dead())
                    .hasValueSatisfying(trouble ->
                            assertThat(trouble).startsWith("The watch of Pod has ended and is not reopened: ")));
        }
    }

    @Test
    void anOperatorThatStopsHasLostNothing() {
        OperatorUnderTest operator = OperatorUnderTest.in("stops").start();
        operator.close();

        assertThat(operator.dead()).isEmpty();
    }

    private static void create(KubernetesClient client, String name) {
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
