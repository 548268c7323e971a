// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.audit.AuditLog;
import dev.kvpool.dataplane.http.Caller;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import java.util.Optional;

/** {@value #PATH}: a certificate for a token. Any master answers, also one that does not lead. */
public final class EnrolRoute {
    public static final String PATH = "/api/v1/enrol";

    private static final String VERB = "POST " + PATH;
    private static final ObjectMapper JSON = new ObjectMapper();

    private final Enrolment enrolment;
    private final AuditLog audit;

    private EnrolRoute(Enrolment enrolment, AuditLog audit) {
        this.enrolment = enrolment;
        this.audit = audit;
    }

    /**
     * The route of a master that signs.
     *
     * @param audit is told of each certificate and each refusal
     */
    public static Route of(Enrolment enrolment, AuditLog audit) {
        return Route.post(PATH, new EnrolRoute(enrolment, audit)::answer);
    }

    /** That of a master which takes tokens in place of certificates, and has no authority to sign with. */
    public static Route refusing() {
        return Route.post(
                PATH,
                request -> Response.text(
                        404,
                        "this master signs no certificates: those of its pool come from directories that others fill; give processes"
                                + " --tls-dir, and engines KVPOOL_TLS_DIR\n"));
    }

    private Response answer(Request request) {
        String token = request.token().orElse("");
        if (token.isEmpty()) {
            return Response.text(401, "header " + Request.TOKEN + " is missing: the token of a ServiceAccount\n");
        }
        try {
            Enrolment.Granted granted =
                    enrolment.enrol(token, parameter(request, "key"), parameter(request, "proof"), request.from());
            audit.enrolled(new Caller(Optional.of(granted.name()), granted.serial(), request.from()), VERB);
            return Response.json(
                    200,
                    JSON.createObjectNode()
                            .put("name", granted.name().uri())
                            .put("notAfter", granted.notAfter().toString())
                            .put("certificate", granted.certificate())
                            .put("roots", granted.roots())
                            .toString());
        } catch (RefusedTokenException e) {
            audit.refusedToEnrol(Caller.unknown(request.from()), VERB, e.httpStatus(), e.getMessage());
            return Response.text(e.httpStatus(), e.getMessage() + "\n");
        }
    }

    private static String parameter(Request request, String name) {
        return request.parameter(name)
                .orElseThrow(() -> new IllegalArgumentException(
                        PATH + "?key=KEY&proof=PROOF: a public key and its signature over the token"));
    }
}
