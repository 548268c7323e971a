// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.pod.PodTemplate;
import io.fabric8.kubernetes.api.model.Capabilities;
import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSecurityContextBuilder;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What Kubernetes calls the restricted Pod Security Standard, and what a podTemplate changes of it. */
public final class PodSecurity {
    /** The user of the image; it has no name and no home. */
    private static final long USER = 65532;

    private static final KubernetesSerialization JSON = new KubernetesSerialization();

    private PodSecurity() {}

    /** Of pods that run as the user of the image. */
    public static PodSecurityContext pod() {
        return new PodSecurityContextBuilder(ofAnyUser())
                .withRunAsUser(USER)
                .withRunAsGroup(USER)
                .withFsGroup(USER)
                .build();
    }

    /**
     * The same.
     *
     * @param platformUser whether the cluster gives pods their user, group and file system group, and refuses others
     */
    public static PodSecurityContext pod(boolean platformUser) {
        return platformUser ? ofAnyUser() : pod();
    }

    private static PodSecurityContext ofAnyUser() {
        return new PodSecurityContextBuilder()
                .withRunAsNonRoot(true)
                .withNewSeccompProfile()
                .withType("RuntimeDefault")
                .endSeccompProfile()
                .build();
    }

    /** Whom directories of the Kubernetes node are given to. */
    public static long user(PodTemplate wish) {
        SecurityContext container = wish.containerSecurityContext();
        if (container != null && container.getRunAsUser() != null) {
            return container.getRunAsUser();
        }
        PodSecurityContext pod = wish.securityContext();
        return pod != null && pod.getRunAsUser() != null ? pod.getRunAsUser() : USER;
    }

    /** A container that does one thing to a directory of its node, with the capabilities which that takes. */
    public static SecurityContext root(String... capabilities) {
        return new SecurityContextBuilder(container())
                .withRunAsNonRoot(false)
                .withRunAsUser(0L)
                .editCapabilities()
                .withAdd(capabilities)
                .endCapabilities()
                .build();
    }

    /** Of a container that registers memory with a device, which pins it; anything else needs no right to. */
    public static SecurityContext container(boolean locksMemory) {
        return locksMemory
                ? new SecurityContextBuilder(container())
                        .editCapabilities()
                        .withAdd("IPC_LOCK")
                        .endCapabilities()
                        .build()
                : container();
    }

    public static SecurityContext container() {
        return new SecurityContextBuilder()
                .withAllowPrivilegeEscalation(false)
                .withReadOnlyRootFilesystem(true)
                .withNewCapabilities()
                .withDrop("ALL")
                .endCapabilities()
                .build();
    }

    /** The operator's, with each field that is given in its place. */
    public static PodSecurityContext merge(PodSecurityContext own, PodSecurityContext given) {
        return given == null ? own : JSON.convertValue(merged(own, given), PodSecurityContext.class);
    }

    /** The same of a container, which keeps the capabilities that its devices need. */
    public static SecurityContext merge(SecurityContext own, SecurityContext given) {
        if (given == null) {
            return own;
        }
        SecurityContext merged = JSON.convertValue(merged(own, given), SecurityContext.class);
        Capabilities capabilities = merged.getCapabilities();
        List<String> add = new ArrayList<>(capabilities.getAdd());
        own.getCapabilities().getAdd().stream()
                .filter(name -> !add.contains(name))
                .forEach(add::add);
        capabilities.setAdd(add);
        return merged;
    }

    private static Map<String, Object> merged(Object own, Object given) {
        Map<String, Object> result = fields(own);
        merge(result, fields(given));
        return result;
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> fields(Object object) {
        return JSON.convertValue(object, LinkedHashMap.class);
    }

    /** Objects are merged field by field; lists and values are replaced. */
    @SuppressWarnings("unchecked")
    private static void merge(Map<String, Object> result, Map<String, Object> given) {
        given.forEach((name, value) -> {
            if (value instanceof Map<?, ?> inner && result.get(name) instanceof Map<?, ?> own) {
                Map<String, Object> both = new LinkedHashMap<>((Map<String, Object>) own);
                merge(both, (Map<String, Object>) inner);
                result.put(name, both);
            } else {
                result.put(name, value);
            }
        });
    }
}
