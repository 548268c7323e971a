// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.transition;

import dev.kvpool.api.v1alpha1.status.StepStatus;
import java.util.List;

/** How a step under way stands. */
public sealed interface Verdict {
    /** It is over. What its member still needs begins again in its turn. */
    record Done() implements Verdict {}

    /** It goes on as that step, with what must be done for it now. */
    record Under(StepStatus step, List<Action> actions) implements Verdict {
        Under(StepStatus step, Action... actions) {
            this(step, List.of(actions));
        }
    }

    /** It did not succeed, as a part of a sentence. */
    record Failed(String why) implements Verdict {}
}
