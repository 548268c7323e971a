// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@value #PATH}: a certificate for a token. Any master answers, also one that does not lead. */
public final class EnrolRoute {
    public static final String PATH = "/api/v1/enrol";

    private static final Duration BETWEEN_LINES = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(EnrolRoute.class);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Enrolment enrolment;
    private final LongSupplier uptimeMs;
    private OptionalLong loggedMs = OptionalLong.empty();
    private int notLogged;

    private EnrolRoute(Enrolment enrolment, LongSupplier uptimeMs) {
        this.enrolment = enrolment;
        this.uptimeMs = uptimeMs;
    }

    /**
     * The route of a master that signs.
     *
     * @param uptimeMs milliseconds of a clock that is never set
     */
    public static Route of(Enrolment enrolment, LongSupplier uptimeMs) {
        return Route.post(PATH, new EnrolRoute(enrolment, uptimeMs)::answer);
    }

    private Response answer(Request request) {
        String token = request.token().orElse("");
        if (token.isEmpty()) {
            return Response.text(401, "header " + Request.TOKEN + " is missing: the token of a ServiceAccount\n");
        }
        try {
            Enrolment.Granted granted =
                    enrolment.enrol(token, parameter(request, "key"), parameter(request, "proof"), request.from());
            LOG.info("enrolled {} until {}", granted.name().path(), granted.notAfter());
            return Response.json(
                    200,
                    JSON.createObjectNode()
                            .put("name", granted.name().uri())
                            .put("notAfter", granted.notAfter().toString())
                            .put("certificate", granted.certificate())
                            .put("roots", granted.roots())
                            .toString());
        } catch (RefusedTokenException e) {
            logRefusal(e);
            return Response.text(e.httpStatus(), e.getMessage() + "\n");
        }
    }

    private static String parameter(Request request, String name) {
        return request.parameter(name)
                .orElseThrow(() -> new IllegalArgumentException(
                        PATH + "?key=KEY&proof=PROOF: a public key and its signature over the token"));
    }

    /** Who has no token yet may fill neither a disk nor a reader's day. */
    private synchronized void logRefusal(RefusedTokenException refusal) {
        long nowMs = uptimeMs.getAsLong();
        if (loggedMs.isPresent() && nowMs - loggedMs.getAsLong() < BETWEEN_LINES.toMillis()) {
            notLogged++;
            return;
        }
        LOG.warn("refused to enrol: {} ({} others since the last such line)", refusal.getMessage(), notLogged);
        loggedMs = OptionalLong.of(nowMs);
        notLogged = 0;
    }
}
