// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import java.util.Optional;

/** Which image a pool runs, and which version is expected of it. */
public final class PoolImage {
    private PoolImage() {}

    /**
     * The image.
     *
     * @param stable what all of the pool ran last. A pool whose spec names nothing keeps it: a newer operator is no wish for
     *     a newer pool. Empty for a new pool
     */
    public static String reference(KvCachePoolSpec spec, OperatorSettings settings, Optional<String> stable) {
        if (spec.image() != null) {
            return spec.image();
        }
        return spec.version() == null
                ? stable.orElse(settings.image())
                : repository(settings.image()) + ":" + spec.version();
    }

    /** Empty when it is not known which version the image has. */
    public static Optional<String> version(KvCachePoolSpec spec, OperatorSettings settings, Optional<String> stable) {
        if (spec.version() != null) {
            return Optional.of(spec.version());
        }
        return reference(spec, settings, stable).equals(settings.image())
                ? Optional.of(settings.version())
                : Optional.empty();
    }

    /** The operator's own image, where a pool that names nothing was not upgraded to it. */
    public static Optional<String> offered(KvCachePoolSpec spec, OperatorSettings settings, Optional<String> stable) {
        boolean keeps = spec.image() == null
                && spec.version() == null
                && !reference(spec, settings, stable).equals(settings.image());
        return keeps ? Optional.of(settings.image()) : Optional.empty();
    }

    /** An image reference without tag and digest. A colon before a slash belongs to the registry's port. */
    private static String repository(String image) {
        String name = image.contains("@") ? image.substring(0, image.indexOf('@')) : image;
        int colon = name.lastIndexOf(':');
        return colon > name.lastIndexOf('/') ? name.substring(0, colon) : name;
    }
}
