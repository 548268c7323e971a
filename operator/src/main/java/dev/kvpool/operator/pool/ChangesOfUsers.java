// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.api.v1alpha1.KvCachePool;
import io.javaoperatorsdk.operator.processing.event.source.filter.OnUpdateFilter;
import java.util.Objects;

/** The spec of a pool and its annotations, by which users ask for something. The status the operator writes itself. */
public final class ChangesOfUsers implements OnUpdateFilter<KvCachePool> {
    @Override
    public boolean accept(KvCachePool now, KvCachePool before) {
        return !Objects.equals(
                        now.getMetadata().getGeneration(), before.getMetadata().getGeneration())
                || !Objects.equals(
                        now.getMetadata().getAnnotations(), before.getMetadata().getAnnotations());
    }
}
