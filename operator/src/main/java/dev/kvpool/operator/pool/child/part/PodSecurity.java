// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import io.fabric8.kubernetes.api.model.PodSecurityContext;
import io.fabric8.kubernetes.api.model.PodSecurityContextBuilder;
import io.fabric8.kubernetes.api.model.SecurityContext;
import io.fabric8.kubernetes.api.model.SecurityContextBuilder;

/** What Kubernetes calls the restricted Pod Security Standard. */
public final class PodSecurity {
    /** The user of the image; it has no name and no home. */
    static final long USER = 65532;

    private PodSecurity() {}

    public static PodSecurityContext pod() {
        return new PodSecurityContextBuilder()
                .withRunAsNonRoot(true)
                .withRunAsUser(USER)
                .withRunAsGroup(USER)
                .withFsGroup(USER)
                .withNewSeccompProfile()
                .withType("RuntimeDefault")
                .endSeccompProfile()
                .build();
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
}
