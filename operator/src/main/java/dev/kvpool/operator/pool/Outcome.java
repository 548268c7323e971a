// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import dev.kvpool.operator.status.Finding;
import java.util.List;

/**
 * What came of carrying out a plan.
 *
 * @param changes what was changed, as KIND/NAME; empty when everything already was as planned
 * @param failures what could not be changed
 */
public record Outcome(List<String> changes, List<Finding> failures) {
    public Outcome {
        changes = List.copyOf(changes);
        failures = List.copyOf(failures);
    }
}
