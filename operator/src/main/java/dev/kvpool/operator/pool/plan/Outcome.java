// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.status.Finding;
import java.util.List;
import java.util.Optional;

/**
 * What came of carrying out a plan.
 *
 * @param changes what was changed, as KIND/NAME; empty when everything already was as planned
 * @param failures what could not be changed
 * @param binding name of the Secret by which the pool can be bound, when that is news
 */
public record Outcome(List<String> changes, List<Finding> failures, Optional<String> binding) {
    public Outcome {
        changes = List.copyOf(changes);
        failures = List.copyOf(failures);
    }

    /** What came of a plan that makes no Secret. */
    public Outcome(List<String> changes, List<Finding> failures) {
        this(changes, failures, Optional.empty());
    }
}
