// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import java.time.Duration;

/**
 * How long certificate authorities of pools live, and how a pool goes from one to the next.
 *
 * @param life of each
 * @param renewBefore so long before its end the next one is made
 * @param clientWait so long clients have time to trust the next one, before masters sign with it
 * @param keepPrevious so long the previous one is trusted, once all masters sign with the next: longer than certificates of clients live
 */
public record RotationTerms(Duration life, Duration renewBefore, Duration clientWait, Duration keepPrevious) {
    public static final RotationTerms DEFAULT =
            new RotationTerms(Duration.ofDays(365), Duration.ofDays(30), Duration.ofHours(24), Duration.ofHours(25));

    public RotationTerms {
        if (!renewBefore.isPositive()
                || clientWait.isNegative()
                || keepPrevious.isNegative()
                || life.compareTo(renewBefore.multipliedBy(2)) < 0) {
            throw new IllegalArgumentException(
                    ("certificate authorities that live %s and are followed %s before their end, with a wait of %s for clients and of %s with the"
                                    + " previous one: the life must be at least twice the time before its end, and no time negative")
                            .formatted(life, renewBefore, clientWait, keepPrevious));
        }
    }
}
