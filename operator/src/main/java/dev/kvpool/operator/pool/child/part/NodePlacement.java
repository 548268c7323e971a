// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.child.part;

import java.util.List;

/**
 * On which nodes the storage nodes of a perNode set may be, beside what the set's own selector says.
 *
 * @param kept nodes by name on which a storage node runs; they keep it whatever becomes of their labels
 * @param excluded nodes by name that get none although the selector matches
 */
public record NodePlacement(List<String> kept, List<String> excluded) {
    public NodePlacement {
        kept = List.copyOf(kept);
        excluded = List.copyOf(excluded);
    }
}
