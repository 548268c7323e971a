// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.KvCachePoolSpec;
import dev.kvpool.api.v1alpha1.status.ConditionStatus;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PoolImage;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.plan.RollViews;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Turns an observation into one finding for each condition type. Pure. */
public final class PoolFindings {
    private static final Set<PoolPhase> HAS_BEEN_READY =
            Set.of(PoolPhase.READY, PoolPhase.WAITING, PoolPhase.DEGRADED, PoolPhase.UNAVAILABLE, PoolPhase.UPGRADING);

    private final PoolObservation seen;
    private final PoolPlan plan;
    private final OperatorSettings settings;
    private final boolean ofEngines;

    public PoolFindings(PoolObservation seen, PoolPlan plan, OperatorSettings settings) {
        this.seen = seen;
        this.plan = plan;
        this.settings = settings;
        this.ofEngines = isOfEngines(seen, plan);
    }

    /** In the order the conditions have in the status, Ready first; Secured and CertificatesValid only of pools that are, TenantsOvercommitted only where anything is guaranteed, AscendRuntimeReady only where storage nodes open NPUs. */
    public List<Finding> all(List<Finding> problems, Outcome outcome) {
        Finding leader = leader();
        Finding storage = storage();
        Finding available = available(leader, storage);
        Finding applied = specApplied(problems, outcome);
        Finding progressing = Completeness.progressing(seen, applied, outcome, plan, settings.rollout());
        List<Finding> findings = new ArrayList<>(List.of(
                Completeness.ready(available, progressing, applied),
                available,
                progressing,
                specValid(problems),
                applied,
                leader,
                storage,
                version(),
                plan.roll().finding(),
                plan.transitions().words().draining()));
        findings.addAll(SecurityFindings.of(seen, settings));
        TenantGuarantees.of(seen).ifPresent(findings::add);
        AscendRuntime.of(seen).ifPresent(findings::add);
        return findings;
    }

    private Finding available(Finding leader, Finding storage) {
        if (leader.reason() != Reason.ELECTED && leader.reason() != Reason.SEVERAL_LEADERS) {
            return hasBeenReady()
                    ? new Finding(Reason.NOT_SERVING, "The pool does not serve. " + leader.message())
                    : new Finding(Reason.STARTING, "The pool is starting. " + leader.message());
        }
        boolean awaitsEngines = storage.reason() == Reason.NO_ENGINE_JOINED;
        if (storage.reason().status() != ConditionStatus.TRUE && !awaitsEngines) {
            if (hasBeenReady() && readyNodes() == 0) {
                return new Finding(Reason.NOT_SERVING, "The pool does not serve. " + storage.message());
            }
            return hasBeenReady()
                    ? new Finding(Reason.STORAGE_INCOMPLETE, "The pool serves what it has. " + storage.message())
                    : new Finding(Reason.STARTING, "The pool is starting. " + storage.message());
        }
        int wanted = seen.spec().masters().replicas();
        int ready = readyMasters();
        if (ready < wanted) {
            return new Finding(
                    Reason.SERVING_WITHOUT_STANDBY,
                    "The pool serves, with %d of %d masters ready.%s%s"
                            .formatted(
                                    ready,
                                    wanted,
                                    String.join("", BlindMasters.sentences(seen)),
                                    troubles(seen.pods(PoolLabels.ROLE_MASTER))));
        }
        List<String> blind = BlindMasters.sentences(seen);
        if (!blind.isEmpty()) {
            return new Finding(
                    Reason.SERVING_WITHOUT_STANDBY,
                    "The pool serves, but not all of its %d masters could take over.%s"
                            .formatted(wanted, String.join("", blind)));
        }
        return new Finding(
                Reason.SERVING,
                ofEngines
                        ? "The pool serves: %d of %d masters are ready. %s %s"
                                .formatted(ready, wanted, leader.message(), storage.message())
                        : "The pool serves: %d of %d storage nodes and %d of %d masters are ready. %s"
                                .formatted(plan.storageNodes(), plan.storageNodes(), ready, wanted, leader.message()));
    }

    private long readyNodes() {
        return seen.leaderReport().stream()
                .flatMap(report -> report.nodes().stream())
                .filter(PoolReport.Node::serves)
                .count();
    }

    private boolean hasBeenReady() {
        return seen.status().phase() != null
                && HAS_BEEN_READY.contains(seen.status().phase());
    }

    private Finding specValid(List<Finding> problems) {
        return problems.isEmpty() ? new Finding(Reason.VALID, "The spec can be carried out.") : problems.getFirst();
    }

    private Finding specApplied(List<Finding> problems, Outcome outcome) {
        if (!problems.isEmpty()) {
            return new Finding(
                    Reason.SPEC_INVALID,
                    "Nothing was changed. " + problems.getFirst().message());
        }
        if (seen.spec().paused()) {
            return new Finding(Reason.PAUSED, "spec.paused is true: no object of the pool is changed.");
        }
        if (!outcome.failures().isEmpty()) {
            return outcome.failures().getFirst();
        }
        if (!plan.transitions().words().heldBack().isEmpty()) {
            return new Finding(
                    Reason.WOULD_LOSE_BYTES,
                    plan.transitions().words().heldBack()
                            + " Set spec.onDataLoss to Move to empty storage nodes first, or to Replace to accept the loss; or delete"
                            + " single pods, or revert the change.");
        }
        if (!plan.outstanding().waiting().isEmpty()) {
            return new Finding(
                    Reason.WAITS_FOR_DRAIN, String.join(" ", plan.outstanding().waiting()));
        }
        if (!plan.transitions().words().replacing().isEmpty()) {
            return new Finding(Reason.REPLACES_PODS, plan.transitions().words().replacing());
        }
        if (!plan.transitions().words().removing().isEmpty()) {
            return new Finding(
                    Reason.REMOVES_MASTERS, plan.transitions().words().removing());
        }
        List<String> refused = plan.children()
                .map(children -> children.blueprint().requests().refused())
                .orElse(List.of());
        if (!refused.isEmpty()) {
            return new Finding(Reason.REQUEST_NOT_UNDERSTOOD, String.join(" ", refused));
        }
        if (!plan.outstanding().leftOut().isEmpty()) {
            return new Finding(
                    Reason.NODE_LEFT_OUT, String.join(" ", plan.outstanding().leftOut()));
        }
        if (!plan.outstanding().cleaning().isEmpty()) {
            return new Finding(
                    Reason.REMOVES_DIRECTORIES,
                    String.join(" ", plan.outstanding().cleaning()));
        }
        List<String> reading = RulesAtMasters.sentences(seen);
        if (!reading.isEmpty()) {
            return new Finding(Reason.MASTERS_READ_RULES, String.join(" ", reading));
        }
        return new Finding(Reason.APPLIED, "The pool's objects are as the spec says.");
    }

    private Finding leader() {
        if (seen.leadership().isEmpty()) {
            return new Finding(
                    Reason.NO_LEADER,
                    "No master holds the Lease %s; %d of %d masters are ready.%s"
                            .formatted(
                                    seen.names().lease(),
                                    readyMasters(),
                                    seen.spec().masters().replicas(),
                                    troubles(seen.pods(PoolLabels.ROLE_MASTER))));
        }
        if (plan.leader().dead().isPresent()) {
            return new Finding(Reason.LEADER_DIED, plan.leader().dead().get().sentence());
        }
        Leadership leadership = seen.leadership().get();
        return switch (seen.answers().get(leadership.pod())) {
            case MasterAnswer.Report(PoolReport report)
            when report.leads() ->
                severalLeaders()
                        .orElseGet(() -> new Finding(
                                Reason.ELECTED,
                                "%s leads in epoch %d.".formatted(leadership.pod(), leadership.epoch())));
            case MasterAnswer.Report(PoolReport report) ->
                new Finding(
                        Reason.LEADER_NOT_SERVING,
                        "%s holds the Lease and does not serve yet: its state is %s."
                                .formatted(leadership.pod(), report.state()));
            case MasterAnswer.Silent(String reason) ->
                new Finding(
                        Reason.LEADER_SILENT,
                        "%s holds the Lease and does not answer: %s.".formatted(leadership.pod(), reason));
            case null ->
                new Finding(
                        Reason.LEADER_SILENT,
                        "%s holds the Lease, but is not a running pod of this pool.".formatted(leadership.pod()));
        };
    }

    /** Masters are asked at the same time, so that a mere change of leaders is rarely taken for two. */
    private Optional<Finding> severalLeaders() {
        List<PoolReport> claims = seen.reports().stream()
                .filter(PoolReport::leads)
                .sorted(Comparator.comparing(PoolReport::name))
                .toList();
        if (claims.size() < 2) {
            return Optional.empty();
        }
        List<String> names = claims.stream()
                .map(claim -> "%s in epoch %d".formatted(claim.name(), claim.epoch()))
                .toList();
        return Optional.of(new Finding(
                Reason.SEVERAL_LEADERS,
                "%s say that they lead. Storage nodes accept the highest epoch only.".formatted(NameList.of(names))));
    }

    private Finding storage() {
        if (plan.storageNodes() == 0 && !ofEngines) {
            return new Finding(
                    Reason.NO_NODE_SELECTED,
                    "The pool has no storage node: no Kubernetes node has the labels of perNode and only tolerated taints.");
        }
        Optional<PoolReport> report = seen.leaderReport();
        if (report.isEmpty()) {
            return new Finding(
                    Reason.STORAGE_NOT_OBSERVED,
                    "No leader reports which storage nodes are ready.%s"
                            .formatted(troubles(seen.pods(PoolLabels.ROLE_STORAGE))));
        }
        List<PoolReport.Node> nodes = report.get().nodes().stream()
                .filter(node ->
                        ofEngines ? node.isTransient() : plan.expectedNodes().contains(node.id()))
                .toList();
        long ready = nodes.stream().filter(PoolReport.Node::serves).count();
        PoolReport.Register register = report.get().register();
        String all = (ofEngines
                        ? "%d %s memory.".formatted(ready, ready == 1 ? "engine contributes" : "engines contribute")
                        : "%d of %d storage nodes are ready.".formatted(ready, plan.storageNodes()))
                + ObjectCounts.next(seen.status(), report).sentence()
                + register.sentence();
        if (register.awaitsWitness()) {
            return new Finding(Reason.AWAITS_WITNESS, all + awaited(register));
        }
        if (ofEngines && ready == 0) {
            return new Finding(
                    Reason.NO_ENGINE_JOINED,
                    "No engine contributes memory yet, and puts fail until one does. Start engines with the ConfigMap %s."
                            .formatted(seen.names().clientConfigMap()));
        }
        if (ready >= plan.storageNodes()) {
            if (!report.get().indexProblem().isEmpty()) {
                return new Finding(
                        Reason.INDEX_FULL,
                        "%s Master %s refuses puts: %s."
                                .formatted(
                                        all, report.get().name(), report.get().indexProblem()));
            }
            return nodes.stream()
                    .filter(node -> !node.ssdProblem().isEmpty())
                    .findFirst()
                    .map(node -> new Finding(
                            Reason.SSD_OFF,
                            "%s %s continues without its SSD: %s.".formatted(all, node.id(), node.ssdProblem())))
                    .orElse(new Finding(ofEngines ? Reason.ENGINES_CONTRIBUTE : Reason.ALL_NODES_READY, all));
        }
        List<String> why = nodes.stream()
                .filter(node -> !node.serves())
                .map(PoolFindings::whyNotReady)
                .toList();
        return new Finding(
                nodes.stream().anyMatch(PoolReport.Node::setApart) ? Reason.NODE_SET_APART : Reason.NODES_NOT_READY,
                all
                        + String.join("", why.subList(0, Math.min(why.size(), PodTroubles.PODS_MAX)))
                        + troubles(seen.pods(PoolLabels.ROLE_STORAGE)));
    }

    /** All of the pool's memory is in engines: its spec wants no storage node, and none is left. */
    static boolean isOfEngines(PoolObservation seen, PoolPlan plan) {
        return seen.spec().storage().isEmpty() && plan.storageNodes() == 0;
    }

    private String awaited(PoolReport.Register register) {
        return (" Which objects were removed is unknown, and removals fail, until one of these nodes is back with its"
                        + " memory: %s. For those that will not be: kubectl kvpool forget %s NODE.")
                .formatted(NameList.of(register.witnesses()), seen.names().pool());
    }

    /** The reason of a node that is set apart begins with that. */
    private static String whyNotReady(PoolReport.Node node) {
        if (node.setApart() && !node.reason().isEmpty()) {
            return " %s is %s.".formatted(node.id(), node.reason());
        }
        return " " + node.id() + " is " + node.state() + (node.reason().isEmpty() ? "." : ": " + node.reason() + ".");
    }

    private Finding version() {
        List<PoolReport> reports = seen.reports();
        Set<String> running = versions(reports.stream().map(PoolFindings::product));
        if (running.isEmpty()) {
            return new Finding(Reason.VERSION_NOT_OBSERVED, "No master answered about its version.");
        }
        Optional<PoolReport.Node> refused =
                nodes(reports, PoolReport.Node::refused).findFirst();
        if (refused.isPresent()) {
            return new Finding(
                    Reason.NODE_REFUSED,
                    "%s and the masters refuse each other: %s."
                            .formatted(refused.get().id(), refused.get().reason()));
        }
        KvCachePoolSpec spec = seen.spec();
        Optional<String> stable = RollViews.stableImage(seen);
        Optional<String> wanted = PoolImage.version(spec, settings, stable);
        boolean upgrading = plan.roll().next().isPresent();
        if (!upgrading && wanted.isPresent() && !running.equals(Set.of(wanted.get()))) {
            return new Finding(
                    Reason.VERSION_DIFFERS,
                    "The masters run %s, but the spec says %s. Image %s must contain that version."
                            .formatted(
                                    String.join(", ", running),
                                    wanted.get(),
                                    PoolImage.reference(spec, settings, stable)));
        }
        running.addAll(versions(nodes(reports, node -> !node.isTransient())
                .map(node -> node.build().product())));
        return running.size() == 1
                ? new Finding(
                        Reason.SAME_VERSION, "Masters and storage nodes run %s.".formatted(String.join("", running)))
                : new Finding(
                        Reason.MIXED_VERSIONS,
                        "Masters and storage nodes run %s, which are compatible."
                                .formatted(String.join(", ", running)));
    }

    private static Stream<PoolReport.Node> nodes(List<PoolReport> reports, Predicate<PoolReport.Node> wanted) {
        return reports.stream().flatMap(report -> report.nodes().stream()).filter(wanted);
    }

    static String product(PoolReport report) {
        return report.version() == null ? null : report.version().product();
    }

    static Set<String> versions(Stream<String> products) {
        Set<String> versions = new TreeSet<>();
        products.filter(product -> product != null && !product.isEmpty()).forEach(versions::add);
        return versions;
    }

    private int readyMasters() {
        return (int) seen.pods(PoolLabels.ROLE_MASTER).stream()
                .filter(ObservedPod::ready)
                .count();
    }

    private String troubles(List<ObservedPod> pods) {
        return PodTroubles.sentences(pods)
                + PodRefusalWords.sentences(seen)
                + PodsOfDeadNodes.sentences(pods, seen)
                + plan.sizing()
                        .map(sizing -> LackOfMemory.sentences(pods, seen.nodes(), sizing.status(seen.spec())))
                        .orElse("");
    }
}
