// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import dev.kvpool.dataplane.http.NotPermittedException;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.http.Response;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** What the routes of a master, here and in the rooms below, have in common: waiting for the core, and sending people to the leader. */
public final class Answers {
    private static final long ANSWER_SECONDS_MAX = 5;

    private Answers() {}

    public static <T> T await(CompletableFuture<T> question) {
        return await(question, ANSWER_SECONDS_MAX);
    }

    static <T> T await(CompletableFuture<T> question, long secondsMax) {
        try {
            return question.orTimeout(secondsMax, TimeUnit.SECONDS).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof TimeoutException) {
                throw new IllegalStateException("no answer within " + secondsMax + " s", e);
            }
            throw e;
        }
    }

    public static Response notLeader(MasterAdmin master) {
        return Response.text(503, whyNotLeader(master) + "\n");
    }

    /** A route that the leader alone answers; others say who that is. */
    public static Function<Request, Response> ofLeader(MasterAdmin master, Function<Request, Response> route) {
        return request -> master.isLeader() ? route.apply(request) : notLeader(master);
    }

    /** That this master does not lead, and who does. */
    public static String whyNotLeader(MasterAdmin master) {
        String leader = master.lease()
                .filter(lease -> lease.isHeld())
                .map(lease -> "; the Lease is held by " + lease.holderName())
                .orElse("");
        return "this master does not serve as leader" + leader;
    }

    /**
     * The tenant of the objects that a request is about: that of the caller's certificate, or the one that it names.
     *
     * @throws NotPermittedException when a tenant names another one, whether there is such a tenant or not
     */
    static Optional<Tenant> named(Request request) {
        return named(request, "tenant");
    }

    /** The same where the parameter has another name. */
    public static Optional<Tenant> named(Request request, String parameter) {
        Optional<Tenant> named = request.parameter(parameter).map(Tenant::of);
        Optional<Tenant> own = ownTenant(request.caller().name());
        if (own.isPresent() && named.isPresent() && !named.equals(own)) {
            throw new NotPermittedException("a certificate of tenant %s is good for that tenant only; leave %s=%s out"
                    .formatted(own.get(), parameter, named.get()));
        }
        return own.or(() -> named);
    }

    /** The tenant that a caller is of; empty for other roles, which may ask about all. */
    static Optional<Tenant> ownTenant(Optional<PeerName> caller) {
        return caller.filter(name -> name.role() == PeerRole.TENANT).map(name -> Tenant.of(name.tenant()));
    }

    /** The tenant that a request is about, the default one when it names none. */
    static Tenant tenant(Request request) {
        return named(request).orElse(Tenant.DEFAULT);
    }

    /** The qualified key of a tenant's key, or name of a group; one that is not valid when it may not have that. */
    public static Key qualified(Request request, String key) {
        return tenant(request).qualify(Key.of(key));
    }

    /** A parameter that is true or false, and false when it is not there. */
    static boolean onOff(Request request, String name) {
        String text = request.parameter(name).orElse("false");
        if (!text.equals("true") && !text.equals("false")) {
            throw new IllegalArgumentException(name + " must be true or false, not " + text);
        }
        return text.equals("true");
    }
}
