// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.security.Payloads;
import dev.kvpool.api.v1alpha1.security.SecurityMode;
import dev.kvpool.api.v1alpha1.security.ServiceAccountName;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Rotations;
import dev.kvpool.operator.pool.plan.SecurityStage;
import dev.kvpool.operator.pool.security.AuthorityRotation;
import dev.kvpool.operator.pool.security.PoolSecurity;
import dev.kvpool.operator.pool.security.PoolTrust;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Whether a pool lets in peers without certificates, and whether its certificates can go on. */
final class SecurityFindings {
    private static final int PODS_MAX = 5;
    private static final Set<String> MEMBERS =
            Set.of(PoolLabels.ROLE_MASTER, PoolLabels.ROLE_STORAGE, PoolLabels.ROLE_AGENT);

    private final PoolObservation seen;
    private final OperatorSettings settings;
    private final PoolSecurity next;

    private SecurityFindings(PoolObservation seen, OperatorSettings settings, PoolSecurity next) {
        this.seen = seen;
        this.settings = settings;
        this.next = next;
    }

    /** None for a pool that is plain. */
    static List<Finding> of(PoolObservation seen, OperatorSettings settings) {
        PoolSecurity next = SecurityStage.of(seen, settings);
        if (!next.isOn() && !seen.spec().security().mode().isOn()) {
            return List.of();
        }
        SecurityFindings findings = new SecurityFindings(seen, settings, next);
        return List.of(findings.secured(), findings.certificates());
    }

    private Finding secured() {
        SecurityMode wanted = seen.spec().security().mode();
        List<String> others = seen.pods().stream()
                .filter(pod -> MEMBERS.contains(pod.role()) && pod.security() != wanted)
                .map(ObservedPod::name)
                .sorted()
                .toList();
        if (!others.isEmpty()) {
            return new Finding(
                    Reason.PODS_OF_ANOTHER_MODE,
                    "spec.security.mode is %s, and %d pods run with another mode: %s.%s"
                            .formatted(
                                    title(wanted),
                                    others.size(),
                                    NameList.of(others.subList(0, Math.min(PODS_MAX, others.size()))),
                                    next.masters() == wanted
                                            ? ""
                                            : " Until then those that are made again are Permissive."));
        }
        return wanted == SecurityMode.REQUIRED
                ? new Finding(
                        Reason.TLS_REQUIRED,
                        seen.spec().security().payloads() == Payloads.AUTHENTICATED
                                ? "All pods of the pool take TLS only. Storage nodes check certificates, then keys and values go without"
                                        + " encryption, as spec.security.payloads is Authenticated."
                                : "All pods of the pool take TLS only.")
                : new Finding(
                        Reason.PLAIN_PEERS_ADMITTED,
                        "spec.security.mode is %s: peers without certificates may do everything. Required shuts them out."
                                .formatted(title(wanted)));
    }

    /** As the spec has it. */
    private static String title(SecurityMode mode) {
        return switch (mode) {
            case OFF -> "Off";
            case PERMISSIVE -> "Permissive";
            case REQUIRED -> "Required";
        };
    }

    private Finding certificates() {
        if (next.directory().isPresent()) {
            return DirectoryFindings.of(seen, next.directory().get());
        }
        Optional<PoolTrust> active = next.trust().filter(PoolTrust::active);
        String name = seen.names().trust();
        if (active.isEmpty()) {
            return new Finding(
                    Reason.AUTHORITY_PENDING,
                    "The certificate authority of the pool is not there yet. No pod is made before ConfigMap %s says that it is."
                            .formatted(name));
        }
        if (!active.get().isIntact()) {
            return new Finding(
                    Reason.TRUST_CHANGED,
                    ("The certificate in ConfigMap %s is not that of fingerprint %s, by which it is named. Restore it from Secret %s; or"
                                    + " delete the ConfigMap: the pool gets another certificate authority, and all pods are made again.")
                            .formatted(
                                    name,
                                    active.get().fingerprint(),
                                    seen.names().authority(active.get().fingerprint())));
        }
        return rotation(active.get());
    }

    private Finding rotation(PoolTrust trust) {
        Instant end = trust.notAfter().orElse(Instant.EPOCH);
        String waits = Rotations.view(seen, settings)
                .map(view -> AuthorityRotation.decide(view).waitsFor())
                .filter(sentence -> !sentence.isEmpty())
                .map(sentence -> " " + sentence)
                .orElse("");
        if (!seen.now().isBefore(AuthorityRotation.latest(trust, settings.rotation()))) {
            return new Finding(
                    Reason.AUTHORITY_ENDS_SOON,
                    ("The certificate authority of the pool ends at %s, and all certificates with it, and not all masters sign with the next one"
                                    + " yet.%s%s")
                            .formatted(
                                    trust.signsUntil().orElse(end),
                                    seen.spec().paused() ? " The pool is paused, which holds that back too." : "",
                                    waits));
        }
        Optional<Finding> ended = EndedCertificates.finding(seen);
        if (ended.isPresent()) {
            return ended.get();
        }
        if (trust.rotates()) {
            return new Finding(Reason.AUTHORITY_ROTATES, state(trust).formatted(end, waits, copies()));
        }
        return new Finding(
                Reason.AUTHORITY_VALID,
                "The certificate authority of the pool is valid until %s; the next one is made at %s."
                        .formatted(end, end.minus(settings.rotation().renewBefore())));
    }

    private static String state(PoolTrust trust) {
        if (trust.previous().isEmpty()) {
            return "The certificate authority of the pool is valid until %s; the next one is made, and trusted beside it.%s%s";
        }
        return trust.previous().get().since().isEmpty()
                ? "Masters are getting the key of the next certificate authority of the pool, valid until %s; both are trusted.%s%s"
                : "Masters sign with the next certificate authority of the pool, valid until %s, and the previous one is still trusted.%s%s";
    }

    /** In other namespaces than the pool's nothing brings new roots but the user, who copied the old ones. */
    private String copies() {
        List<String> namespaces = seen.spec().tenants().stream()
                .flatMap(tenant -> tenant.serviceAccounts().stream())
                .map(ServiceAccountName::namespace)
                .filter(namespace -> !namespace.equals(seen.names().namespace()))
                .distinct()
                .sorted()
                .toList();
        return namespaces.isEmpty()
                ? ""
                : (" Copies of ConfigMap %s in %s need the new root: run kubectl kvpool client-config again and apply what it prints. Without it"
                                + " processes that start there get no certificate once masters sign with the next one; those that run have got"
                                + " the root from masters.")
                        .formatted(seen.names().identity(), NameList.of(namespaces));
    }
}
