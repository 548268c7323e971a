// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import java.util.Optional;

/**
 * A storage node that shall not stay where it is.
 *
 * @param node its id
 * @param holdsBytes false when its pod never ran, or is being deleted, and its bytes with it: then nothing can be moved. What
 *     is on a volume that outlives the pod counts also while there is none
 * @param wanted whether the spec wants it all the same, so that it takes part again somewhere or some time
 * @param cordon the cordoned node of the cluster it is on; none when it is to be made anew with other settings where it is
 */
public record Departure(String node, boolean holdsBytes, boolean wanted, Optional<Cordon> cordon) {
    /** One that the spec does not want any more. */
    public static Departure unwanted(String node, boolean holdsBytes) {
        return new Departure(node, holdsBytes, false, Optional.empty());
    }

    /** One that the spec wants with other settings than its pod has. */
    public static Departure outdated(String node, boolean holdsBytes) {
        return new Departure(node, holdsBytes, true, Optional.empty());
    }

    /** The same on a cordoned node. */
    public Departure on(Cordon where) {
        return new Departure(node, holdsBytes, wanted, Optional.of(where));
    }

    /** It is made anew by us, and not evicted by somebody. */
    boolean comesBack() {
        return wanted && cordon.isEmpty();
    }

    /** Name of the cordoned node; null when it is on none. */
    String host() {
        return cordon.map(Cordon::host).orElse(null);
    }

    /** Nothing needs to be moved, as what it holds comes back with its pod. */
    boolean isKept() {
        return wanted && cordon.filter(Cordon::keeps).isPresent();
    }

    /** Somebody waits for its pod to be evicted, and not for ever. */
    boolean isWaitedFor() {
        return cordon.filter(Cordon::evicts).isPresent();
    }
}
