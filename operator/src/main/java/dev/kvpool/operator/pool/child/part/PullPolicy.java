// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import dev.kvpool.api.v1alpha1.pod.ImagePullPolicy;

/** The API's pull policy in the words of a pod. */
public final class PullPolicy {
    private PullPolicy() {}

    public static String name(ImagePullPolicy policy) {
        return switch (policy) {
            case ALWAYS -> "Always";
            case IF_NOT_PRESENT -> "IfNotPresent";
            case NEVER -> "Never";
        };
    }
}
