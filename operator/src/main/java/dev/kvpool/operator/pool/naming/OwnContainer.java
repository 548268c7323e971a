// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import java.util.Map;

/**
 * The container that runs kvpool in a pod, among those that admission may have put beside it, and the image that the operator wants it
 * to run: admission may write another reference for the same image (a digest, a mirror), so the wish is noted on the pod. Pure.
 */
public final class OwnContainer {
    private static final Map<String, String> NAMES =
            Map.of(PoolLabels.ROLE_MASTER, "master", PoolLabels.ROLE_STORAGE, "node");

    private OwnContainer() {}

    /** Its name in pods of a role; that of the role where nothing else is said. */
    public static String name(String role) {
        return NAMES.getOrDefault(role, role);
    }

    /** The note of an image, for the annotations of a pod or of its template. */
    public static Map<String, String> note(String image) {
        return Map.of(PoolLabels.IMAGE, image);
    }

    public static String wishedImage(PodTemplateSpec template) {
        return wishedImage(template.getMetadata(), template.getSpec());
    }

    /** Empty for a pod without such a container. */
    public static String wishedImage(ObjectMeta pod, PodSpec spec) {
        String noted = pod == null || pod.getAnnotations() == null
                ? null
                : pod.getAnnotations().get(PoolLabels.IMAGE);
        return noted != null ? noted : specImage(pod, spec);
    }

    /** As admission has written it. Empty for a pod without such a container. */
    public static String specImage(ObjectMeta pod, PodSpec spec) {
        if (spec == null) {
            return "";
        }
        String name = name(
                pod == null || pod.getLabels() == null ? "" : pod.getLabels().getOrDefault(PoolLabels.ROLE, ""));
        return spec.getContainers().stream()
                .filter(container -> name.equals(container.getName()))
                .map(Container::getImage)
                .findFirst()
                .orElse("");
    }
}
