// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.http.TokenNames;
import java.net.InetAddress;

/** The names that tokens would get by enrolment, for requests that come with a token in place of a certificate. */
public final class EnrolledNames implements TokenNames {
    private final Enrolment enrolment;

    public EnrolledNames(Enrolment enrolment) {
        this.enrolment = enrolment;
    }

    @Override
    public Bearer check(String token, InetAddress from) {
        try {
            return enrolment.named(token, from);
        } catch (RefusedTokenException e) {
            return new Refused(e.httpStatus(), e.getMessage());
        }
    }
}
