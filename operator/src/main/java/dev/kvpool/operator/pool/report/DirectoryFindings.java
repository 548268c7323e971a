// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.security.CertificateVolume;
import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.child.part.CertificateDirectory;
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
                    complaining.size() + " pods do not start with their certificates." + origins(complaining)
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
        return new Finding(
                Reason.CERTIFICATES_OF_DIRECTORIES,
                "Others make the certificates of the pool, as spec.security.certificates says."
                        + masters.stream()
                                .findFirst()
                                .map(first -> " Those of masters are valid until %s at least.".formatted(first.until()))
                                .orElse(" No master has said yet until when its own is valid."));
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
