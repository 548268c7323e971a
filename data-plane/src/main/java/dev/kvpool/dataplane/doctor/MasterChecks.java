// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;

/** Judges what masters answered, each by itself and all together. */
final class MasterChecks {
    private MasterChecks() {}

    static List<CheckResult> judge(Versions ours, List<PeerAnswer> answers) {
        List<CheckResult> findings = new ArrayList<>();
        answers.forEach(answer -> findings.add(judge(ours, answer)));
        Map<UUID, List<HostPort>> pools = answers.stream()
                .filter(answer -> answer.answer().orElse(null) instanceof Welcome)
                .collect(Collectors.groupingBy(
                        answer -> ((Welcome) answer.answer().orElseThrow()).poolId(),
                        Collectors.mapping(PeerAnswer::address, Collectors.toList())));
        if (pools.size() > 1) {
            findings.add(CheckResult.problem(
                    "masters",
                    "they belong to " + pools.size() + " pools: "
                            + pools.entrySet().stream()
                                    .map(pool -> pool.getValue() + " to " + pool.getKey())
                                    .sorted()
                                    .collect(Collectors.joining(", ")),
                    "give a client the masters of one pool; the ConfigMap NAME-client has them"));
        }
        return findings;
    }

    private static CheckResult judge(Versions ours, PeerAnswer visit) {
        String subject = "master " + visit.address();
        if (visit.answer().isEmpty()) {
            return CheckResult.problem(
                    subject,
                    "not reached: " + visit.failure(),
                    "look whether it runs, and whether a firewall or NetworkPolicy lets this machine through");
        }
        return switch (visit.answer().get()) {
            case Refused refused ->
                CheckResult.problem(
                        subject,
                        "refuses this version (" + ours.text() + "): " + refused.message(),
                        "use the kvpool of the pool's version here, or upgrade the pool");
            case Welcome welcome ->
                welcomed(ours, subject, welcome, visit.took().toMillis());
        };
    }

    private static CheckResult welcomed(Versions ours, String subject, Welcome welcome, long tookMs) {
        String found = "%s of pool %s, %s, speaks wire version %d with us, answered in %d ms"
                .formatted(welcome.name(), welcome.poolId(), welcome.versions().text(), welcome.wireChosen(), tookMs);
        return welcome.versions().product().equals(ours.product())
                ? CheckResult.ok(subject, found)
                : CheckResult.warning(
                        subject,
                        found + "; this is kvpool " + ours.product(),
                        "they fit each other; bring both to one version when convenient");
    }
}
