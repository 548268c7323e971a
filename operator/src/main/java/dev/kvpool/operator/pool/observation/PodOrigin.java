// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.security.PoolSecurity;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * With what a pod was made.
 *
 * @param settings digest of its settings; empty for pods that carry none
 * @param asked digest of what the user asked for; empty for pods that carry none
 * @param serviceAccount name of its ServiceAccount; empty when nothing is known
 * @param pullSecrets Secrets with which its images are pulled
 * @param security whether it speaks TLS
 * @param authority fingerprint of the certificate authority whose key it mounts; empty where it has none
 * @param ofDirectory true for a master whose certificates others make
 * @param trustDomain of certificates that name ServiceAccounts, for a master that was made to know them; empty else
 */
public record PodOrigin(
        String settings,
        String asked,
        String serviceAccount,
        List<String> pullSecrets,
        SecurityMode security,
        String authority,
        boolean ofDirectory,
        String trustDomain) {

    public PodOrigin {
        pullSecrets = List.copyOf(pullSecrets);
    }

    static PodOrigin of(Pod pod) {
        Map<String, String> notes =
                Objects.requireNonNullElse(pod.getMetadata().getAnnotations(), Map.<String, String>of());
        Optional<PodSpec> spec = Optional.ofNullable(pod.getSpec());
        return new PodOrigin(
                notes.getOrDefault(PoolLabels.SETTINGS, ""),
                notes.getOrDefault(PoolLabels.ASKED, ""),
                spec.map(PodSpec::getServiceAccountName).orElse(""),
                spec.stream()
                        .flatMap(it -> it.getImagePullSecrets().stream())
                        .map(LocalObjectReference::getName)
                        .toList(),
                security(notes.getOrDefault(PoolLabels.TLS, "")),
                notes.getOrDefault(PoolLabels.AUTHORITY, ""),
                PoolLabels.OF_DIRECTORY.equals(notes.get(PoolLabels.CERTIFICATES)),
                notes.getOrDefault(PoolLabels.TRUST_DOMAIN, ""));
    }

    private static SecurityMode security(String word) {
        return Stream.of(SecurityMode.values())
                .filter(mode -> PoolSecurity.word(mode).equals(word))
                .findFirst()
                .orElse(SecurityMode.OFF);
    }
}
