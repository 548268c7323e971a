// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import dev.kvpool.identity.certificate.CertificateAuthority;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/**
 * What is written for each step of a pool's certificate authority, in an order that lets an operator end after each write, or go on with the rest of
 * them when another operator has long followed: POOL-trust is written before anything is made, which is refused to the one that is
 * behind, and what is deleted is named by no later POOL-trust. Pure, but for the keys.
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

    /** The first CA of a pool. What was begun of another one, whose key is lost, is left over: see {@link #of}. */
    public static List<Write> first(PoolTrust stored, CertificateAuthority authority) {
        PoolTrust pending = PoolTrust.first(authority.certificate(), stored.version());
        return List.of(
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
     * A step of a rotation. Before it goes what is left over of CAs that were begun, or replaced by an operator while another one was making them:
     * POOL-trust names a CA before anything is made of it, so that one which it does not name is never named again.
     *
     * @param made CAs of the pool of which there is a ConfigMap, seen before {@code stored} was read
     * @param isKeyThere whether the Secret of the CA that follows is there; asked for with CONFIRM, and with SWITCH, as it may have been deleted since
     * @param maker makes a CA; asked for one when it is needed
     */
    public static List<Write> of(
            AuthorityRotation.Step step,
            PoolTrust stored,
            Collection<String> made,
            Instant now,
            Supplier<Boolean> isKeyThere,
            Supplier<CertificateAuthority> maker) {
        List<Write> writes = new ArrayList<>();
        if (step != AuthorityRotation.Step.WAIT) {
            made.stream()
                    .filter(fingerprint -> !stored.names(fingerprint))
                    .map(Write.Forget::new)
                    .forEach(writes::add);
        }
        writes.addAll(
                switch (step) {
                    case WAIT -> List.of();
                    case BEGIN -> follow(stored, now, maker.get());
                    case CONFIRM ->
                        isKeyThere.get()
                                ? List.of(new Write.Trust(stored.nextSince(now)))
                                : follow(stored, now, maker.get());
                    case SWITCH ->
                        isKeyThere.get()
                                ? List.of(new Write.Trust(stored.switched()))
                                : follow(stored, now, maker.get());
                    case MARK -> List.of(new Write.Trust(stored.previousSince(now)));
                    case DROP ->
                        List.of(
                                new Write.Forget(stored.previous().orElseThrow().fingerprint()),
                                new Write.Trust(stored.alone()));
                });
        return writes;
    }

    /** Where the key of the one that follows was lost, another one follows. */
    private static List<Write> follow(PoolTrust stored, Instant now, CertificateAuthority authority) {
        PoolTrust pending = stored.followedBy(authority.certificate());
        return List.of(
                new Write.Trust(pending),
                new Write.Owner(authority),
                new Write.Key(authority),
                new Write.Trust(pending.nextSince(now)));
    }
}
