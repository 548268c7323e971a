// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.audit.AuditLog;
import dev.kvpool.dataplane.http.Caller;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.secure.MemberReports;
import dev.kvpool.identity.name.PeerName;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/** {@value #PATH}: a storage node or an agent says which roots it trusts, of which authority its certificate is, and until when that is valid. */
public final class TrustRoute {
    public static final String PATH = "/api/v1/trust";

    private static final String VERB = "POST " + PATH;
    private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{16}");
    private static final Pattern SECONDS = Pattern.compile("[0-9]{1,12}");

    private final EnrolledNames names;
    private final MemberReports reports;
    private final AuditLog audit;

    private TrustRoute(EnrolledNames names, MemberReports reports, AuditLog audit) {
        this.names = names;
        this.reports = reports;
        this.audit = audit;
    }

    /**
     * The route of a master that signs.
     *
     * @param audit is told of each refusal
     */
    public static Route of(Enrolment enrolment, MemberReports reports, AuditLog audit) {
        return Route.post(PATH, new TrustRoute(enrolment.names(), reports, audit)::answer);
    }

    private Response answer(Request request) {
        String token = request.token().orElse("");
        if (token.isEmpty()) {
            return Response.text(401, "header " + Request.TOKEN + " is missing: the token of a ServiceAccount\n");
        }
        String roots = parameter(request, "roots");
        String authority = parameter(request, "authority");
        try {
            PeerName name = names.named(token, request.from()).name();
            if (!MemberReports.matters(name.role())) {
                return Response.text(403, "only storage nodes and agents are asked, and this is " + name.path() + "\n");
            }
            return reports.add(name, roots, authority, notAfter(request))
                    ? Response.text(200, "noted\n")
                    : Response.text(503, MemberReports.COUNT_MAX + " others have told the same; try again later\n");
        } catch (RefusedTokenException e) {
            audit.refusedToEnrol(Caller.unknown(request.from()), VERB, e.httpStatus(), e.getMessage());
            return Response.text(e.httpStatus(), e.getMessage() + "\n");
        }
    }

    /** Empty when it is not told, as by a process whose certificate has no end that it knows. */
    private static Optional<Instant> notAfter(Request request) {
        return request.parameter("notAfter")
                .filter(value -> SECONDS.matcher(value).matches())
                .map(value -> Instant.ofEpochSecond(Long.parseLong(value)));
    }

    private static String parameter(Request request, String name) {
        return request.parameter(name)
                .filter(value -> DIGEST.matcher(value).matches())
                .orElseThrow(() -> new IllegalArgumentException(
                        PATH + "?roots=DIGEST&authority=FINGERPRINT: each of 16 hexadecimal digits"));
    }
}
