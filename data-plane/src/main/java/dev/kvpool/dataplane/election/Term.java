// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;

/**
 * A leadership that has begun, in milliseconds of the elector's clock.
 *
 * @param validUntilMs serve until then at most, unless it is renewed
 * @param predecessorUntilMs no leader before this one served, or will serve, after this moment; it lies in the future when the
 *     Lease was taken before it ran out
 * @param succession how it came about
 * @param register as it was stored with the Lease
 */
public record Term(
        Authority authority, long validUntilMs, long predecessorUntilMs, Succession succession, Register register) {}
