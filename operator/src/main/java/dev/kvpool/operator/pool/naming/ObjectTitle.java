// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

import io.fabric8.kubernetes.api.model.HasMetadata;

/** Under which people and the API server know an object in its namespace, such as {@code Service demo-leader}. */
public final class ObjectTitle {
    private ObjectTitle() {}

    public static String of(HasMetadata object) {
        return object.getKind() + " " + object.getMetadata().getName();
    }
}
