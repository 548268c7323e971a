// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import java.util.Arrays;

/**
 * Which state of which stored object: two of them that are equal are as near to a plan as each other.
 *
 * @param uid of the object
 * @param state its resource version; of a Lease, which its holder renews every second, what the operator has to say about it
 */
record StoredVersion(String uid, Object state) {
    static StoredVersion of(HasMetadata stored) {
        ObjectMeta metadata = stored.getMetadata();
        return new StoredVersion(
                metadata.getUid(),
                stored instanceof Lease
                        ? Arrays.asList(metadata.getLabels(), metadata.getAnnotations(), metadata.getOwnerReferences())
                        : metadata.getResourceVersion());
    }
}
