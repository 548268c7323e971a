// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.election.FileLeaseStore;
import dev.kvpool.dataplane.election.KubernetesLeaseStore;
import dev.kvpool.dataplane.election.LeaseStore;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where the leadership Lease is kept. */
public sealed interface LeasePlace {
    Pattern KUBERNETES = Pattern.compile("k8s://([a-z0-9][a-z0-9-]{0,62})/([a-z0-9][a-z0-9.-]{0,252})");
    Pattern LOCAL = Pattern.compile("file://(/.+)");

    /** A Lease object; the operator makes it, this process needs get and update on it. */
    record Kubernetes(String namespace, String name) implements LeasePlace {}

    /** A file with the same fields, for masters on one machine. */
    record Local(Path file) implements LeasePlace {}

    /** Reads {@code k8s://NAMESPACE/NAME} or {@code file:///PATH}. */
    static LeasePlace parse(String text) {
        Matcher kubernetes = KUBERNETES.matcher(text);
        if (kubernetes.matches()) {
            return new Kubernetes(kubernetes.group(1), kubernetes.group(2));
        }
        Matcher local = LOCAL.matcher(text);
        if (local.matches()) {
            return new Local(Path.of(local.group(1)));
        }
        throw new IllegalArgumentException("'" + text + "' is neither k8s://NAMESPACE/NAME nor file:///PATH");
    }

    /** Opens the store; one call on it takes at most {@code timeoutMs}. */
    default LeaseStore open(int timeoutMs) {
        return switch (this) {
            case Kubernetes it -> KubernetesLeaseStore.connect(it.namespace(), it.name(), timeoutMs);
            case Local it -> new FileLeaseStore(it.file());
        };
    }
}
