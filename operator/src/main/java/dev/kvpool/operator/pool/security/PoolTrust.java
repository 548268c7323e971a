// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.operator.pool.naming.PoolNames;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The ConfigMap in which the certificate authority of a pool is known. It is written before the Secret with the key, so that the operator knows
 * by it which Secret it was making when it ended.
 *
 * @param fingerprint first 16 hexadecimal digits of the SHA-256 of the CA's certificate, which are in the name of the Secret
 * @param active false until the Secret is known to be there
 * @param roots PEM of what the pool's processes trust
 * @param notAfter end of the CA; empty where that is not readable
 * @param version resource version, for writes that must not undo another one; empty where it is not stored yet
 * @param uid of the ConfigMap, which owns the Secret
 */
public record PoolTrust(
        String fingerprint, boolean active, String roots, Optional<Instant> notAfter, String version, String uid) {
    /** Key of the certificates; processes look for a file of this name. */
    public static final String ROOTS = "ca.crt";

    private static final String FINGERPRINT = "kvpool.dev/ca";
    private static final String STATE = "kvpool.dev/ca-state";
    private static final String NOT_AFTER = "kvpool.dev/ca-not-after";
    private static final String ACTIVE = "Active";
    private static final String PENDING = "Pending";

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

    /** The same once the Secret is there. */
    public PoolTrust activated() {
        return new PoolTrust(fingerprint, true, roots, notAfter, version, uid);
    }

    /** As annotations. */
    public Map<String, String> notes() {
        Map<String, String> notes = new LinkedHashMap<>();
        notes.put(FINGERPRINT, fingerprint);
        notes.put(STATE, active ? ACTIVE : PENDING);
        notAfter.ifPresent(end -> notes.put(NOT_AFTER, end.toString()));
        return notes;
    }

    /** Whether the first certificate in it is the one that it is named by. */
    public boolean isIntact() {
        try {
            return CertificateAuthority.fingerprint(Pem.certificates(roots).getFirst())
                    .equals(fingerprint);
        } catch (IllegalArgumentException e) { // is no certificate
            return false;
        }
    }
}
