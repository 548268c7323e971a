// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import dev.kvpool.identity.certificate.CertificateAuthority;
import java.time.Instant;
import java.util.List;
import java.util.function.Supplier;

/**
 * What is written for each step of a pool's certificate authority, in an order that lets an operator end after each write. Pure, but for the keys.
 *
 * <p>A Secret belongs to a ConfigMap of the same name: the operator may delete that, and Kubernetes then the Secret, which the operator can neither
 * read nor delete. That one belongs to POOL-trust, and goes or stays with the pool as it does.
 */
public final class AuthorityWrites {
    private AuthorityWrites() {}

    /** One write. */
    public sealed interface Write {
        /** POOL-trust becomes this. */
        record Trust(PoolTrust trust) implements Write {}

        /** The ConfigMap to which the Secret belongs. */
        record Owner(CertificateAuthority authority) implements Write {}

        /** The Secret. */
        record Key(CertificateAuthority authority) implements Write {}

        /** That ConfigMap goes, and with it the Secret. */
        record Forget(String fingerprint) implements Write {}
    }

    /** The first CA of a pool. What was begun of another one, whose key is lost, goes first. */
    public static List<Write> first(PoolTrust stored, CertificateAuthority authority) {
        PoolTrust pending = PoolTrust.first(authority.certificate(), stored.version());
        return stored.fingerprint().isEmpty()
                ? List.of(
                        new Write.Trust(pending),
                        new Write.Owner(authority),
                        new Write.Key(authority),
                        new Write.Trust(pending.activated()))
                : List.of(
                        new Write.Forget(stored.fingerprint()),
                        new Write.Trust(pending),
                        new Write.Owner(authority),
                        new Write.Key(authority),
                        new Write.Trust(pending.activated()));
    }

    /** The first CA, whose Secret was found. */
    public static List<Write> activate(PoolTrust stored) {
        return List.of(new Write.Trust(stored.activated()));
    }

    /**
     * A step of a rotation.
     *
     * @param isKeyThere whether the Secret of the CA that follows is there; asked for with CONFIRM, and with SWITCH, as it may have been deleted since
     * @param maker makes a CA; asked for one when it is needed
     */
    public static List<Write> of(
            AuthorityRotation.Step step,
            PoolTrust stored,
            Instant now,
            Supplier<Boolean> isKeyThere,
            Supplier<CertificateAuthority> maker) {
        return switch (step) {
            case WAIT -> List.of();
            case BEGIN -> follow(stored, now, maker.get());
            case CONFIRM ->
                isKeyThere.get() ? List.of(new Write.Trust(stored.nextSince(now))) : again(stored, now, maker.get());
            case SWITCH ->
                isKeyThere.get() ? List.of(new Write.Trust(stored.switched())) : again(stored, now, maker.get());
            case MARK -> List.of(new Write.Trust(stored.previousSince(now)));
            case DROP ->
                List.of(
                        new Write.Forget(stored.previous().orElseThrow().fingerprint()),
                        new Write.Trust(stored.alone()));
        };
    }

    private static List<Write> follow(PoolTrust stored, Instant now, CertificateAuthority authority) {
        PoolTrust pending = stored.followedBy(authority.certificate());
        return List.of(
                new Write.Trust(pending),
                new Write.Owner(authority),
                new Write.Key(authority),
                new Write.Trust(pending.nextSince(now)));
    }

    private static List<Write> again(PoolTrust stored, Instant now, CertificateAuthority authority) {
        List<Write> following = follow(stored, now, authority);
        return List.of(
                new Write.Forget(stored.next().orElseThrow().fingerprint()),
                following.get(0),
                following.get(1),
                following.get(2),
                following.get(3));
    }
}
