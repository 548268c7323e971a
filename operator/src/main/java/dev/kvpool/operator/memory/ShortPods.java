// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.memory;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.BeanDescription;
import com.fasterxml.jackson.databind.DeserializationConfig;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.deser.BeanDeserializerModifier;
import com.fasterxml.jackson.databind.deser.std.DelegatingDeserializer;
import com.fasterxml.jackson.databind.module.SimpleModule;
import dev.kvpool.operator.pool.ascend.DeviceNeeds;
import dev.kvpool.operator.pool.observation.PodContainer;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStateTerminated;
import io.fabric8.kubernetes.api.model.ContainerStatus;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodStatus;
import java.io.IOException;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Reads pods without the parts that the operator never looks at, which are most of a pod, and with many pools were most of what the
 * informers' caches held. A pod that was read so can be patched and deleted, never written back whole.
 */
public final class ShortPods extends BeanDeserializerModifier {
    private static final long serialVersionUID = 1L;

    private ShortPods() {}

    /** For the mapper by which a client reads objects. */
    public static SimpleModule module() {
        return new SimpleModule("short-pods").setDeserializerModifier(new ShortPods());
    }

    @Override
    public JsonDeserializer<?> modifyDeserializer(
            DeserializationConfig config, BeanDescription type, JsonDeserializer<?> deserializer) {
        return type.getBeanClass() == Pod.class ? new Shortening(deserializer) : deserializer;
    }

    private static final class Shortening extends DelegatingDeserializer {
        private static final long serialVersionUID = 1L;

        /** Of a container that has ended before and said nothing, one for all. */
        private static final ContainerState ENDED = new ContainerStateBuilder()
                .withTerminated(new ContainerStateTerminated())
                .build();

        /** Of another init container that has begun, one for all: the pod waits for its volumes no longer. */
        private static final ContainerStatus BEGUN = new ContainerStatus();

        Shortening(JsonDeserializer<?> whole) {
            super(whole);
        }

        @Override
        protected JsonDeserializer<?> newDelegatingInstance(JsonDeserializer<?> whole) {
            return new Shortening(whole);
        }

        @Override
        public Object deserialize(JsonParser parser, DeserializationContext context) throws IOException {
            Pod pod = (Pod) super.deserialize(parser, context);
            pod.getMetadata().setManagedFields(List.of());
            pod.setSpec(pod.getSpec() == null ? null : shortened(pod.getSpec()));
            pod.setStatus(pod.getStatus() == null ? null : shortened(pod.getStatus()));
            return pod;
        }

        private static PodSpec shortened(PodSpec whole) {
            PodSpec spec = new PodSpec();
            spec.setNodeName(whole.getNodeName());
            spec.setServiceAccountName(whole.getServiceAccountName());
            spec.setImagePullSecrets(each(whole.getImagePullSecrets(), secret -> secret));
            spec.setContainers(each(whole.getContainers(), Shortening::shortened));
            return spec;
        }

        private static Container shortened(Container whole) {
            Container container = new Container();
            container.setName(whole.getName());
            container.setImage(whole.getImage());
            return container;
        }

        private static PodStatus shortened(PodStatus whole) {
            PodStatus status = new PodStatus();
            status.setPodIP(whole.getPodIP());
            status.setStartTime(whole.getStartTime());
            status.setConditions(each(whole.getConditions(), condition -> condition));
            status.setContainerStatuses(each(whole.getContainerStatuses(), Shortening::shortened));
            status.setInitContainerStatuses(each(whole.getInitContainerStatuses(), it -> it).stream()
                    .filter(it -> isAsked(it) || !PodContainer.hasNotBegun(it))
                    .map(it -> isAsked(it) ? answering(it) : BEGUN)
                    .toList());
            return status;
        }

        private static boolean isAsked(ContainerStatus init) {
            return DeviceNeeds.CONTAINER.equals(init.getName());
        }

        /** Of the init container whose message is read. */
        private static ContainerStatus answering(ContainerStatus whole) {
            ContainerStatus status = new ContainerStatus();
            status.setName(whole.getName());
            status.setState(whole.getState());
            status.setLastState(whole.getLastState());
            return status;
        }

        private static ContainerStatus shortened(ContainerStatus whole) {
            ContainerStatus status = new ContainerStatus();
            status.setName(whole.getName());
            status.setImageID(whole.getImageID());
            status.setRestartCount(whole.getRestartCount());
            status.setReady(whole.getReady());
            status.setState(whole.getState());
            status.setLastState(ended(whole.getLastState()));
            status.setAllocatedResourcesStatus(each(whole.getAllocatedResourcesStatus(), it -> it));
            return status;
        }

        /** Of how it ended only what it said is asked for. */
        private static ContainerState ended(ContainerState last) {
            if (last == null || last.getTerminated() == null) {
                return null;
            }
            String message = last.getTerminated().getMessage();
            return message == null
                    ? ENDED
                    : new ContainerStateBuilder()
                            .withNewTerminated()
                            .withMessage(message)
                            .endTerminated()
                            .build();
        }

        /** Of the pod in a bookmark of a watch, which says no more than its version, the API server sends null for lists. */
        private static <T> List<T> each(List<T> whole, UnaryOperator<T> shortened) {
            return whole == null ? List.of() : whole.stream().map(shortened).toList();
        }
    }
}
