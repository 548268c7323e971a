// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Whether the pods of a pool could know each other by the certificates that its spec gives them. Pure. */
final class CertificateCheck {
    private CertificateCheck() {}

    static List<Finding> of(PoolObservation seen) {
        List<String> sentences = new ArrayList<>();
        if (seen.spec().security().mode().isOn()) {
            seen.spec().security().directory().flatMap(CertificateCheck::root).ifPresent(sentences::add);
            agents(seen).ifPresent(sentences::add);
        }
        otherSource(seen).ifPresent(sentences::add);
        return sentences.stream()
                .map(sentence -> new Finding(Reason.CERTIFICATES_DO_NOT_FIT, sentence))
                .toList();
    }

    /** By which of several a master is known would not be known, nor for which the operator's token is. */
    private static Optional<String> root(CertificatesSpec certificates) {
        try {
            int count = Pem.certificates(certificates.ca()).size();
            return count == 1
                    ? Optional.empty()
                    : Optional.of(
                            ("spec.security.certificates.ca has %d certificates, and must have one: the root that the certificates of"
                                            + " masters lead to.")
                                    .formatted(count));
        } catch (IllegalArgumentException e) {
            return Optional.of("spec.security.certificates.ca is no certificate: %s.".formatted(e.getMessage()));
        }
    }

    private static Optional<String> agents(PoolObservation seen) {
        return seen.engine()
                .filter(engine -> engine.getSpec().agents() != null
                        && seen.spec().security().directory().isPresent())
                .map(engine ->
                        ("TransferEngine %s has agents, which get their certificates of masters only. Remove them, or let"
                                        + " spec.security.certificates.source be Operator.")
                                .formatted(engine.getMetadata().getName()));
    }

    /** Masters are the last to go to mode Off. Those whose certificates the operator makes say of which authority they are. */
    private static Optional<String> otherSource(PoolObservation seen) {
        boolean isDirectory = seen.spec().security().directory().isPresent();
        List<String> others = seen.pods(PoolLabels.ROLE_MASTER).stream()
                .filter(pod -> pod.security().isOn() && pod.authority().isEmpty() != isDirectory)
                .map(ObservedPod::name)
                .sorted()
                .toList();
        return others.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        ("spec.security.certificates.source has changed while %s still had certificates of the other source. Set it back, wait"
                                        + " with mode Off until condition Secured is gone, and change it then.")
                                .formatted(NameList.of(others)));
    }
}
