// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.sizing;

import dev.kvpool.api.v1alpha1.engine.HugePages;
import dev.kvpool.operator.pool.naming.ByteAmount;

/** What Kubernetes calls huge pages of one size. */
public final class HugePageResource {
    /** What the names of all of them begin with. */
    public static final String PREFIX = "hugepages-";

    private HugePageResource() {}

    /** Bytes of one page, or 0 for the machine's normal pages. */
    public static long pageBytes(HugePages pages) {
        return switch (pages) {
            case NONE -> 0;
            case MI_2 -> 2L << 20;
            case GI_1 -> 1L << 30;
        };
    }

    /** Name of the resource. */
    public static String name(HugePages pages) {
        return PREFIX + ByteAmount.exact(pageBytes(pages));
    }
}
