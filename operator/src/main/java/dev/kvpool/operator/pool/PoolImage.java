// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import java.util.Optional;

/** Which image a pool runs, and which version is expected of it. */
final class PoolImage {
    private PoolImage() {}

    static String reference(KvCachePoolSpec spec, OperatorSettings settings) {
        if (spec.image() != null) {
            return spec.image();
        }
        return spec.version() == null ? settings.image() : repository(settings.image()) + ":" + spec.version();
    }

    /** Empty when the spec names an image without saying its version. */
    static Optional<String> version(KvCachePoolSpec spec, OperatorSettings settings) {
        if (spec.version() != null) {
            return Optional.of(spec.version());
        }
        return spec.image() == null ? Optional.of(settings.version()) : Optional.empty();
    }

    /** An image reference without tag and digest. A colon before a slash belongs to the registry's port. */
    private static String repository(String image) {
        String name = image.contains("@") ? image.substring(0, image.indexOf('@')) : image;
        int colon = name.lastIndexOf(':');
        return colon > name.lastIndexOf('/') ? name.substring(0, colon) : name;
    }
}
