// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.http.TokenNames;
import java.time.InstantSource;

/** The names that tokens would get by enrolment, for requests that come with a token in place of a certificate. */
public final class EnrolledNames implements TokenNames {
    private static final int PER_SECOND_MAX = 100;

    private final Enrolment enrolment;
    private final RateLimit limit;

    public EnrolledNames(Enrolment enrolment, InstantSource clock) {
        this.enrolment = enrolment;
        this.limit = new RateLimit(PER_SECOND_MAX, clock);
    }

    @Override
    public Bearer check(String token) {
        if (!limit.admit()) {
            return new Refused(429, "more than " + PER_SECOND_MAX + " requests with tokens a second; try again later");
        }
        try {
            return new Named(enrolment.name(token));
        } catch (RefusedTokenException e) {
            return new Refused(e.httpStatus(), e.getMessage());
        }
    }
}
