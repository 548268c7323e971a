// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSet;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.rbac.RoleBinding;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Which objects of a pool can be applied at the same time, because none of them needs another to be there. */
final class ApplyOrder {
    private ApplyOrder() {}

    /** The same objects, those that others need first. */
    static List<List<HasMetadata>> waves(List<HasMetadata> children) {
        return children.stream()
                .collect(Collectors.groupingBy(ApplyOrder::wave, TreeMap::new, Collectors.toList()))
                .values()
                .stream()
                .toList();
    }

    private static int wave(HasMetadata child) {
        return switch (child) {
            // The API server looks into the Role, to see whether we may give its rights away.
            case RoleBinding binding -> 1;
            // Their pods want rights, names, settings, and directories that are written down.
            case StatefulSet set -> 2;
            case DaemonSet set -> 2;
            case Job job -> 2;
            default -> 0;
        };
    }
}
