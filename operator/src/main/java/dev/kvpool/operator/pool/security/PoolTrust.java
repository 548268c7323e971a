// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.TrustBundle;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.security.cert.X509Certificate;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The ConfigMap in which the certificate authority of a pool is known, and during a rotation the next or the previous one too. It is written before
 * the Secret with the key, so that the operator knows by it which Secret it was making when it ended.
 *
 * @param fingerprint first 16 hexadecimal digits of the SHA-256 of the CA's certificate, which are in the name of the Secret
 * @param active false until the Secret is known to be there
 * @param roots PEM of what the pool's processes trust: the certificate of this CA first
 * @param notAfter end of the CA; empty where that is not readable
 * @param next the CA that follows, from when it is made until masters get its key
 * @param previous the CA before, from when masters get the next key until nothing that it has signed is in use
 * @param version resource version, for writes that must not undo another one; empty where it is not stored yet
 * @param uid of the ConfigMap, to which all that has keys belongs
 */
public record PoolTrust(
        String fingerprint,
        boolean active,
        String roots,
        Optional<Instant> notAfter,
        Optional<Next> next,
        Optional<Previous> previous,
        String version,
        String uid) {
    /** Key of the certificates; processes look for a file of this name. */
    public static final String ROOTS = "ca.crt";

    private static final String FINGERPRINT = "kvpool.dev/ca";
    private static final String STATE = "kvpool.dev/ca-state";
    private static final String NOT_AFTER = "kvpool.dev/ca-not-after";
    private static final String NEXT = "kvpool.dev/ca-next";
    private static final String NEXT_SINCE = "kvpool.dev/ca-next-since";
    private static final String PREVIOUS = "kvpool.dev/ca-previous";
    private static final String PREVIOUS_SINCE = "kvpool.dev/ca-previous-since";
    private static final String ACTIVE = "Active";
    private static final String PENDING = "Pending";

    /**
     * The CA that follows.
     *
     * @param since when its Secret was known to be there; empty before
     */
    public record Next(String fingerprint, Optional<Instant> since) {}

    /**
     * The CA before.
     *
     * @param since when all masters were seen to sign with the one that follows it; empty before
     */
    public record Previous(String fingerprint, Optional<Instant> since) {}

    /** One of which nothing is stored yet. */
    public static PoolTrust none() {
        return new PoolTrust("", false, "", Optional.empty(), Optional.empty(), Optional.empty(), "", "");
    }

    /** Looks for it among the objects of a pool. */
    public static Optional<PoolTrust> among(Collection<? extends HasMetadata> children, PoolNames names) {
        return children.stream()
                .filter(child -> child instanceof ConfigMap
                        && child.getMetadata().getName().equals(names.trust()))
                .map(child -> of((ConfigMap) child))
                .findFirst();
    }

    /** Reads one. */
    public static PoolTrust of(ConfigMap map) {
        Map<String, String> notes = Objects.requireNonNullElse(map.getMetadata().getAnnotations(), Map.of());
        return new PoolTrust(
                notes.getOrDefault(FINGERPRINT, ""),
                ACTIVE.equals(notes.get(STATE)),
                Objects.requireNonNullElse(map.getData(), Map.<String, String>of())
                        .getOrDefault(ROOTS, ""),
                instant(notes.get(NOT_AFTER)),
                Optional.ofNullable(notes.get(NEXT)).map(of -> new Next(of, instant(notes.get(NEXT_SINCE)))),
                Optional.ofNullable(notes.get(PREVIOUS))
                        .map(of -> new Previous(of, instant(notes.get(PREVIOUS_SINCE)))),
                Objects.requireNonNullElse(map.getMetadata().getResourceVersion(), ""),
                Objects.requireNonNullElse(map.getMetadata().getUid(), ""));
    }

    private static Optional<Instant> instant(String text) {
        try {
            return Optional.ofNullable(text).map(Instant::parse);
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }

    /** The first CA of a pool, before its Secret. */
    static PoolTrust first(X509Certificate authority, String version) {
        return new PoolTrust(
                CertificateAuthority.fingerprint(authority),
                false,
                new TrustBundle(List.of(authority)).pem(),
                Optional.of(authority.getNotAfter().toInstant()),
                Optional.empty(),
                Optional.empty(),
                version,
                "");
    }

    /** The same once the Secret is there. */
    PoolTrust activated() {
        return new PoolTrust(fingerprint, true, roots, notAfter, next, previous, version, uid);
    }

    /** The same with a CA that follows, before its Secret; in place of another one whose key was lost. */
    PoolTrust followedBy(X509Certificate authority) {
        return new PoolTrust(
                fingerprint,
                active,
                new TrustBundle(List.of(own(), authority)).pem(),
                notAfter,
                Optional.of(new Next(CertificateAuthority.fingerprint(authority), Optional.empty())),
                previous,
                version,
                uid);
    }

    /** The same once the Secret of the CA that follows is there. */
    PoolTrust nextSince(Instant now) {
        return new PoolTrust(
                fingerprint,
                active,
                roots,
                notAfter,
                next.map(it -> new Next(it.fingerprint(), Optional.of(now))),
                previous,
                version,
                uid);
    }

    /** Masters are to sign with the one that follows. */
    PoolTrust switched() {
        X509Certificate following = root(next.orElseThrow().fingerprint()).orElseThrow();
        return new PoolTrust(
                next.orElseThrow().fingerprint(),
                true,
                new TrustBundle(List.of(following, own())).pem(),
                Optional.of(following.getNotAfter().toInstant()),
                Optional.empty(),
                Optional.of(new Previous(fingerprint, Optional.empty())),
                version,
                uid);
    }

    /** All masters sign with this one. */
    PoolTrust previousSince(Instant now) {
        return new PoolTrust(
                fingerprint,
                active,
                roots,
                notAfter,
                next,
                previous.map(it -> new Previous(it.fingerprint(), Optional.of(now))),
                version,
                uid);
    }

    /** The rotation is over. */
    PoolTrust alone() {
        return new PoolTrust(
                fingerprint,
                active,
                new TrustBundle(List.of(own())).pem(),
                notAfter,
                Optional.empty(),
                Optional.empty(),
                version,
                uid);
    }

    private X509Certificate own() {
        return root(fingerprint).orElseThrow();
    }

    /**
     * What is trusted.
     *
     * @throws IllegalArgumentException when {@link #roots} are not readable
     */
    public TrustBundle bundle() {
        return TrustBundle.parse(roots);
    }

    private Optional<X509Certificate> root(String of) {
        return bundle().root(of);
    }

    /**
     * PEM of the root by which a master is known; empty when there is no such root.
     *
     * @param mounted fingerprint of the CA whose key it was made with; empty for one that was made before this was noted
     */
    public Optional<String> rootOfMaster(String mounted) {
        String of = mounted.isEmpty() ? previous.map(Previous::fingerprint).orElse(fingerprint) : mounted;
        try {
            return root(of).map(found -> new TrustBundle(List.of(found)).pem());
        } catch (IllegalArgumentException e) { // is changed, which a condition says
            return Optional.empty();
        }
    }

    /** When this CA was made; empty when that is not readable. */
    Optional<Instant> madeAt() {
        return root(fingerprint).map(CertificateAuthority::madeAt);
    }

    /**
     * Until when what masters sign is valid at most: until the end of the previous CA, while not all of them have the key of this one. Empty when that
     * is not readable.
     */
    public Optional<Instant> signsUntil() {
        return previous.filter(it -> it.since().isEmpty())
                .flatMap(it -> root(it.fingerprint()))
                .map(before -> before.getNotAfter().toInstant())
                .or(() -> notAfter);
    }

    /** Whether a rotation is under way. */
    public boolean rotates() {
        return next.isPresent() || previous.isPresent();
    }

    /** As annotations. */
    public Map<String, String> notes() {
        Map<String, String> notes = new LinkedHashMap<>();
        notes.put(FINGERPRINT, fingerprint);
        notes.put(STATE, active ? ACTIVE : PENDING);
        notAfter.ifPresent(end -> notes.put(NOT_AFTER, end.toString()));
        next.ifPresent(it -> {
            notes.put(NEXT, it.fingerprint());
            it.since().ifPresent(since -> notes.put(NEXT_SINCE, since.toString()));
        });
        previous.ifPresent(it -> {
            notes.put(PREVIOUS, it.fingerprint());
            it.since().ifPresent(since -> notes.put(PREVIOUS_SINCE, since.toString()));
        });
        return notes;
    }

    /** Whether the certificates in it are those that it names, its own first. */
    public boolean isIntact() {
        try {
            return bundle().fingerprints().equals(named());
        } catch (IllegalArgumentException e) { // is no certificate
            return false;
        }
    }

    /** Whether it is the CA, the one that follows or the one before. */
    boolean names(String of) {
        return named().contains(of);
    }

    private List<String> named() {
        List<String> named = new ArrayList<>(List.of(fingerprint));
        next.ifPresent(it -> named.add(it.fingerprint()));
        previous.ifPresent(it -> named.add(it.fingerprint()));
        return named;
    }
}
