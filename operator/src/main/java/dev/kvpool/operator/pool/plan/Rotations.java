// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.blueprint.Requests;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.security.AuthorityRotation;
import dev.kvpool.operator.pool.security.PoolSecurity;
import dev.kvpool.operator.pool.security.PoolTrust;
import dev.kvpool.operator.pool.security.RotationView;
import dev.kvpool.operator.pool.security.RotationView.Member;
import dev.kvpool.operator.pool.security.RotationView.Said;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/** Where the rotation of a pool's certificate authority stands. Pure. */
public final class Rotations {
    private Rotations() {}

    /** What is decided from; empty for a pool without an authority, or whose masters sign nothing. */
    public static Optional<RotationView> view(PoolObservation seen, OperatorSettings settings) {
        PoolSecurity next = SecurityStage.of(seen, settings);
        return next.masters().isOn() ? next.trust().map(trust -> view(seen, settings, trust)) : Optional.empty();
    }

    /** What is to be done now, unless the pool rests. */
    public static AuthorityRotation.Step step(PoolObservation seen, OperatorSettings settings) {
        return view(seen, settings)
                .map(view -> AuthorityRotation.decide(view).step())
                .orElse(AuthorityRotation.Step.WAIT);
    }

    private static RotationView view(PoolObservation seen, OperatorSettings settings, PoolTrust trust) {
        Map<String, PoolReport.TrustOfMember> latest = new HashMap<>();
        seen.reports().stream()
                .flatMap(report -> Stream.ofNullable(report.trust()))
                .flatMap(said -> said.members().stream())
                .forEach(said ->
                        latest.merge(said.name(), said, (one, other) -> one.ageMs() <= other.ageMs() ? one : other));
        return new RotationView(
                trust,
                seen.now(),
                Requests.of(seen.pool().getMetadata().getAnnotations()).rotation(),
                settings.rotation(),
                seen.pods(PoolLabels.ROLE_MASTER).stream()
                        .map(pod -> new Member(pod.name(), pod.authority(), master(seen, pod)))
                        .toList(),
                Stream.concat(
                                members(seen, PoolLabels.ROLE_STORAGE)
                                        .map(pod -> member(pod, latest.get("node/" + pod.nodeId()))),
                                members(seen, PoolLabels.ROLE_AGENT)
                                        .map(pod -> member(pod, latest.get("agent/" + pod.node()))))
                        .toList());
    }

    /** One that has not run yet gets what it trusts from the files that it finds then, and one without certificates trusts nothing. */
    private static Stream<ObservedPod> members(PoolObservation seen, String role) {
        return seen.pods(role).stream()
                .filter(pod -> pod.started() && !pod.leaving() && pod.security().isOn());
    }

    private static Optional<Said> master(PoolObservation seen, ObservedPod pod) {
        return seen.answers().get(pod.name()) instanceof MasterAnswer.Report(PoolReport report)
                ? Optional.ofNullable(report.trust()).map(trust -> new Said(trust.roots(), pod.authority()))
                : Optional.empty();
    }

    private static Member member(ObservedPod pod, PoolReport.TrustOfMember said) {
        return new Member(pod.name(), "", Optional.ofNullable(said).map(it -> new Said(it.roots(), it.authority())));
    }
}
