// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.enrol.RefusedTokenException.Reason;
import dev.kvpool.dataplane.http.TokenNames;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.PeerRole;
import java.net.InetAddress;
import java.util.Set;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/** The names that tokens get by the rules of enrolment: for certificates, and for requests that come with a token in place of one. */
public final class EnrolledNames implements TokenNames {
    private final UUID poolId;
    private final Supplier<Set<String>> authorities;
    private final TokenChecks tokens;
    private final Supplier<EnrolmentRules> rules;

    /**
     * Without files and sockets.
     *
     * @param authorities the certificate authorities of this pool, as they are now: fingerprints, or FINGERPRINT/NAMESPACE/ACCOUNT with the account of masters
     * @param rules as they are now
     */
    EnrolledNames(UUID poolId, Supplier<Set<String>> authorities, TokenChecks tokens, Supplier<EnrolmentRules> rules) {
        this.poolId = poolId;
        this.authorities = authorities;
        this.tokens = tokens;
        this.rules = rules;
    }

    @Override
    public Bearer check(String token, InetAddress from) {
        try {
            return named(token, from);
        } catch (RefusedTokenException e) {
            return new Refused(e.httpStatus(), e.getMessage());
        }
    }

    /**
     * The name that a certificate for this token would have, and when the token ends.
     *
     * @throws RefusedTokenException when the token is not believed, or no rule gives it a name
     */
    Named named(String token, InetAddress from) throws RefusedTokenException {
        ServiceAccountToken verified = tokens.check(token, from);
        PeerName name = name(verified);
        tokens.remember(token, verified);
        if (Enrolment.MEMBERS.contains(name.role())) {
            tokens.rememberMember(from);
        }
        return new Named(name, verified.expires());
    }

    /**
     * The operator speaks to every pool, and anybody who may make one says by which roots its masters are verified. So its tokens are for one
     * certificate authority, and of no use with the masters of another; where that is not the pool's alone, also for one ServiceAccount of masters.
     */
    private PeerName name(ServiceAccountToken token) throws RefusedTokenException {
        PeerName name = rules.get().name(poolId, token);
        boolean isOperator = name.role() == PeerRole.OPERATOR;
        Set<String> own = authorities.get();
        if (isOperator ? token.authorities().stream().noneMatch(own::contains) : !token.isForPool()) {
            String audience = "kvpool.dev/" + poolId
                    + (isOperator ? "/" + own.stream().sorted().collect(Collectors.joining(" or ")) : "");
            throw new RefusedTokenException(
                    Reason.AUDIENCE, "the token of " + name.path() + " must be of audience " + audience);
        }
        return name;
    }
}
