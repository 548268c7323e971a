// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import java.util.Comparator;

/**
 * Something that is to happen to a master or storage node.
 *
 * @param of the master's pod, or the storage node's id
 * @param kind what comes first
 * @param because why
 * @param master whether it is about a master
 * @param mends whether it is about one that is not ready, so that nothing becomes worse by it
 */
record Transition(String of, StepKind kind, StepCause because, boolean master, boolean mends) {
    /**
     * The one order: what is not ready, masters that go, as nothing shall be done for them before, then by cause, masters before storage
     * nodes. Those that are alike in this stay as they are found.
     */
    static final Comparator<Transition> ORDER = Comparator.comparing((Transition it) -> !it.mends)
            .thenComparing(it -> !(it.master && it.because == StepCause.SCALE_DOWN))
            .thenComparing(Transition::because)
            .thenComparing(it -> !it.master);

    /** It takes a master away, or a storage node that comes back. */
    static boolean stops(StepKind kind, StepCause because) {
        boolean goes = because == StepCause.SCALE_DOWN || because.isOfPlace();
        return kind != StepKind.TAKE_BACK && !(goes && kind == StepKind.EMPTY);
    }

    boolean stops() {
        return stops(kind, because);
    }
}
