// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import java.util.List;
import java.util.Optional;

/** Objects that have pods. */
public final class Workloads {
    private Workloads() {}

    /** Empty for an object that has no pods. */
    public static Optional<PodTemplateSpec> template(HasMetadata object) {
        return switch (object) {
            case StatefulSet set -> Optional.of(set.getSpec().getTemplate());
            case DaemonSet set -> Optional.of(set.getSpec().getTemplate());
            default -> Optional.empty();
        };
    }

    /**
     * A workload whose template stays as it is, but for what concerns pods that run: their image, which is a matter of upgrades, and the
     * Kubernetes nodes where storage nodes of a perNode set may be.
     *
     * @param stored the template as it is
     * @param made the workload as it would be otherwise
     */
    public static HasMetadata keeping(PodTemplateSpec stored, HasMetadata made) {
        return switch (made) {
            case StatefulSet set ->
                set.toBuilder()
                        .editSpec()
                        .withTemplate(withImage(stored, set.getSpec().getTemplate()))
                        .endSpec()
                        .build();
            case DaemonSet set ->
                set.toBuilder()
                        .editSpec()
                        .withTemplate(withNodes(
                                withImage(stored, set.getSpec().getTemplate()),
                                set.getSpec().getTemplate()))
                        .endSpec()
                        .build();
            default -> throw new IllegalArgumentException(ObjectTitle.of(made) + " has no pods");
        };
    }

    private static PodTemplateSpec withImage(PodTemplateSpec stored, PodTemplateSpec made) {
        String before = OwnContainer.wishedImage(stored);
        String image = OwnContainer.wishedImage(made);
        return stored.toBuilder()
                .editMetadata()
                .addToAnnotations(OwnContainer.note(image))
                .endMetadata()
                .editSpec()
                .withInitContainers(withImage(stored.getSpec().getInitContainers(), before, image))
                .withContainers(withImage(stored.getSpec().getContainers(), before, image))
                .endSpec()
                .build();
    }

    private static List<Container> withImage(List<Container> containers, String before, String image) {
        return containers.stream()
                .map(container -> before.equals(container.getImage())
                        ? container.toBuilder().withImage(image).build()
                        : container)
                .toList();
    }

    private static PodTemplateSpec withNodes(PodTemplateSpec stored, PodTemplateSpec made) {
        return PoolLabels.ROLE_STORAGE.equals(made.getMetadata().getLabels().get(PoolLabels.ROLE))
                ? stored.toBuilder()
                        .editSpec()
                        .withAffinity(made.getSpec().getAffinity())
                        .endSpec()
                        .build()
                : stored;
    }
}
