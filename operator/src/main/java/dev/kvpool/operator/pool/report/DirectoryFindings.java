// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.security.CertificateVolume;
import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.child.certificate.CertificateDirectory;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Whether the certificates of a pool that others make are there, and are renewed, by what pods and masters say. */
final class DirectoryFindings {
    /** Others renew when a third is left, as a rule. */
    private static final int LAST_PART = 6;

    /** Another root takes several steps of people, with time for all processes to get new certificates in between. */
    private static final Duration ROOT_LEFT = Duration.ofDays(30);

    /** A master, and when its certificate is valid. */
    private record Validity(ObservedPod master, Instant from, Instant until) {
        boolean isLate(Instant now) {
            return !now.isBefore(until.minus(Duration.between(from, until).dividedBy(LAST_PART)));
        }
    }

    private final PoolObservation seen;
    private final CertificatesSpec certificates;

    private DirectoryFindings(PoolObservation seen, CertificatesSpec certificates) {
        this.seen = seen;
        this.certificates = certificates;
    }

    static Finding of(PoolObservation seen, CertificatesSpec certificates) {
        return new DirectoryFindings(seen, certificates).finding();
    }

    private Finding finding() {
        List<ObservedPod> complaining = Stream.of(PoolLabels.ROLE_MASTER, PoolLabels.ROLE_STORAGE)
                .flatMap(role -> seen.pods(role).stream())
                .filter(pod -> !pod.ready() && pod.trouble().contains(CertificateDirectory.DIRECTORY))
                .toList();
        if (!complaining.isEmpty()) {
            return new Finding(
                    Reason.CERTIFICATES_UNUSABLE,
                    (complaining.size() == 1 ? "A pod does" : complaining.size() + " pods do")
                            + " not start with what others have put into directories of certificates."
                            + origins(complaining)
                            + PodTroubles.sentences(complaining));
        }
        List<Validity> masters = seen.pods(PoolLabels.ROLE_MASTER).stream()
                .flatMap(master -> validity(master).stream())
                .sorted(Comparator.comparing(Validity::until))
                .toList();
        List<ObservedPod> late = masters.stream()
                .filter(master -> master.isLate(seen.now()))
                .map(Validity::master)
                .toList();
        if (!late.isEmpty()) {
            return new Finding(
                    Reason.CERTIFICATES_NOT_RENEWED,
                    "The first certificate of a master to end does so at %s, and is not replaced.%s"
                            .formatted(masters.getFirst().until(), origins(late)));
        }
        Optional<Instant> end = rootEnd();
        if (end.filter(it -> !seen.now().isBefore(it.minus(ROOT_LEFT))).isPresent()) {
            return new Finding(
                    Reason.CERTIFICATE_ROOT_ENDS,
                    ("The root in spec.security.certificates.ca ends at %s, and all certificates with it. Have all ca.crt hold the next root"
                                    + " too, then certificates of the next one, and then set ca.")
                            .formatted(end.get()));
        }
        String unknown = unknown();
        if (!unknown.isEmpty()) {
            return new Finding(
                    Reason.CERTIFICATES_NOT_OBSERVED,
                    "Not all certificates of the pool are known to be usable." + unknown);
        }
        return new Finding(
                Reason.CERTIFICATES_OF_DIRECTORIES,
                "Others make the certificates of the pool, as spec.security.certificates says."
                        + masters.stream()
                                .findFirst()
                                .map(first -> " Those of masters are valid until %s at least.".formatted(first.until()))
                                .orElse(" No master has said yet until when its own is valid.")
                        + end.map(it -> " The root ends at %s.".formatted(it)).orElse(""));
    }

    /** Empty where that is not readable, which a condition says. */
    private Optional<Instant> rootEnd() {
        try {
            return Optional.of(
                    Pem.certificates(certificates.ca()).getFirst().getNotAfter().toInstant());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** What cannot be told, in sentences with a blank before each. */
    private String unknown() {
        Stream<String> silent = sorted(PoolLabels.ROLE_MASTER)
                .filter(ObservedPod::ready)
                .flatMap(master -> seen.answers().get(master.name()) instanceof MasterAnswer.Silent(String reason)
                        ? Stream.of(
                                (" Master %s runs, and gives the operator no answer: %s. Its certificate may have ended, or not lead to"
                                                + " spec.security.certificates.ca; it comes from %s.")
                                        .formatted(master.name(), reason, origin(master)))
                        : Stream.empty());
        Stream<String> waiting = Stream.of(PoolLabels.ROLE_MASTER, PoolLabels.ROLE_STORAGE)
                .flatMap(this::sorted)
                .filter(pod -> pod.health().notBegun())
                .map(pod ->
                        (" Pod %s waits for its volumes, network or images: kubectl describe pod %1$s says whether its certificate is mounted,"
                                        + " which comes from %s.")
                                .formatted(pod.name(), origin(pod)));
        return Stream.concat(silent, waiting).limit(PodTroubles.PODS_MAX).collect(Collectors.joining());
    }

    /** Pods of a role that speak TLS. */
    private Stream<ObservedPod> sorted(String role) {
        return seen.pods(role).stream()
                .filter(pod -> pod.security().isOn())
                .sorted(Comparator.comparing(ObservedPod::name));
    }

    private String origins(List<ObservedPod> pods) {
        return pods.stream()
                .sorted(Comparator.comparing(ObservedPod::name))
                .limit(PodTroubles.PODS_MAX)
                .map(pod -> " That of %s comes from %s.".formatted(pod.name(), origin(pod)))
                .collect(Collectors.joining());
    }

    private String origin(ObservedPod pod) {
        CertificateVolume from =
                pod.role().equals(PoolLabels.ROLE_MASTER) ? certificates.masters() : certificates.storage();
        return CertificateDirectory.origin(from, pod.nodeId());
    }

    private Optional<Validity> validity(ObservedPod master) {
        return seen.answers().get(master.name()) instanceof MasterAnswer.Report(PoolReport report)
                ? Optional.ofNullable(report.trust()).map(PoolReport.Trust::own).flatMap(own -> validity(master, own))
                : Optional.empty();
    }

    private static Optional<Validity> validity(ObservedPod master, PoolReport.Certificate own) {
        try {
            return Optional.of(new Validity(master, Instant.parse(own.notBefore()), Instant.parse(own.notAfter())));
        } catch (DateTimeException e) {
            return Optional.empty();
        }
    }
}
