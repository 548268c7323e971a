// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.status.Finding;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

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

    /** The same after something else was done. */
    public Outcome after(List<String> changed, Optional<Finding> failure) {
        return new Outcome(
                Stream.concat(changed.stream(), changes.stream()).toList(),
                Stream.concat(failure.stream(), failures.stream()).toList(),
                binding);
    }

    /** What came of a plan that makes no Secret. */
    public Outcome(List<String> changes, List<Finding> failures) {
        this(changes, failures, Optional.empty());
    }
}
