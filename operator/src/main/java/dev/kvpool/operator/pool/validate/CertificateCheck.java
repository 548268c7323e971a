// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import dev.kvpool.api.v1alpha1.security.CertificatesSpec;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.text.Quoted;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

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
        otherNames(seen).ifPresent(sentences::add);
        return sentences.stream()
                .map(sentence -> new Finding(Reason.CERTIFICATES_DO_NOT_FIT, sentence))
                .toList();
    }

    /** By which of several a master is known would not be known, nor for which the operator's token is. */
    private static Optional<String> root(CertificatesSpec certificates) {
        try {
            List<X509Certificate> all = Pem.certificates(certificates.ca());
            if (all.size() != 1) {
                return Optional.of(
                        ("spec.security.certificates.ca has %d certificates, and must have one: the root that the certificates of"
                                        + " masters lead to.")
                                .formatted(all.size()));
            }
            return notRoot(all.getFirst())
                    .map(why ->
                            ("spec.security.certificates.ca is no root: %s. Give the certificate at the top of the chain, which has signed"
                                            + " itself; intermediates belong in tls.crt.")
                                    .formatted(why));
        } catch (IllegalArgumentException e) {
            return Optional.of("spec.security.certificates.ca is no certificate: %s.".formatted(e.getMessage()));
        }
    }

    /** OpenSSL ends a chain at a root only, so what Java takes as an end is not enough. */
    private static Optional<String> notRoot(X509Certificate certificate) {
        if (certificate.getBasicConstraints() < 0) {
            return Optional.of("it may sign no certificates (its basic constraints lack CA:TRUE)");
        }
        try {
            certificate.verify(certificate.getPublicKey());
        } catch (GeneralSecurityException e) { // is signed by another key
            return Optional.of(signedByAnother(certificate));
        }
        return certificate.getSubjectX500Principal().equals(certificate.getIssuerX500Principal())
                ? Optional.empty()
                : Optional.of(signedByAnother(certificate));
    }

    private static String signedByAnother(X509Certificate certificate) {
        return "it was signed by another authority, "
                + Quoted.cut(certificate.getIssuerX500Principal().getName());
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

    /** As with the source: those made before would not know the others. */
    private static Optional<String> otherNames(PoolObservation seen) {
        Optional<CertificatesSpec> directory = seen.spec().security().directory();
        String trustDomain = directory.map(CertificatesSpec::trustDomain).orElse("");
        return changed(
                seen,
                pod -> pod.ofDirectory()
                        && directory.isPresent()
                        && !pod.trustDomain().equals(trustDomain),
                "trustDomain has changed while %s still knew certificates by the names of before");
    }

    private static Optional<String> otherSource(PoolObservation seen) {
        boolean isDirectory = seen.spec().security().directory().isPresent();
        return changed(
                seen,
                pod -> pod.ofDirectory() != isDirectory,
                "source has changed while %s still had certificates of the other source");
    }

    /** Masters are the last to go to mode Off. */
    private static Optional<String> changed(PoolObservation seen, Predicate<ObservedPod> isOfBefore, String what) {
        List<String> others = seen.pods(PoolLabels.ROLE_MASTER).stream()
                .filter(pod -> pod.security().isOn() && isOfBefore.test(pod))
                .map(ObservedPod::name)
                .sorted()
                .toList();
        return others.isEmpty()
                ? Optional.empty()
                : Optional.of(
                        "spec.security.certificates.%s. Set it back, wait with mode Off until condition Secured is gone, and change it then."
                                .formatted(what.formatted(NameList.of(others))));
    }
}
