// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerBuilder;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A short text that differs when the settings of a pod differ, other than its image, which changes in the running pod. What runs
 * before it has run when the image changes.
 */
public final class SettingsDigest {
    private static final int BYTES = 8;
    private static final KubernetesSerialization YAML = new KubernetesSerialization();

    private SettingsDigest() {}

    /**
     * The digest.
     *
     * @param wish the podTemplate, whose labels and annotations are settings too: what reads them does so when a pod is made
     * @param more further annotations that make pods differ
     */
    public static String of(PodSpec pod, PodTemplate wish, Map<String, String> more) {
        PodSpec settings = pod.toBuilder().build();
        settings.setContainers(withoutImages(pod.getContainers()));
        settings.setInitContainers(withoutImages(pod.getInitContainers()));
        List<String> texts = new ArrayList<>(List.of(YAML.asYaml(settings)));
        Stream.of(wish.labels(), wish.annotations(), more)
                .filter(names -> !names.isEmpty())
                .map(names -> YAML.asYaml(new TreeMap<>(names)))
                .forEach(texts::add);
        return of(texts);
    }

    /** That of texts. */
    static String of(List<String> texts) {
        try {
            MessageDigest hash = MessageDigest.getInstance("SHA-256");
            texts.forEach(text -> hash.update(text.getBytes(StandardCharsets.UTF_8)));
            return HexFormat.of().formatHex(hash.digest(), 0, BYTES);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    private static List<Container> withoutImages(List<Container> containers) {
        return containers.stream()
                .map(container ->
                        new ContainerBuilder(container).withImage(null).build())
                .toList();
    }
}
