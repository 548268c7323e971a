// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.ApiGroup;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.TransferEngineStatus;
import dev.kvpool.api.v1alpha1.status.Condition;
import dev.kvpool.api.v1alpha1.status.RollPhase;
import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.api.v1alpha1.status.VersionStatus;
import dev.kvpool.api.v1alpha1.storage.DeletionPolicy;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import dev.kvpool.api.v1alpha1.storage.UpgradeSpec;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.operator.Altered;
import dev.kvpool.operator.engine.status.EngineSketch;
import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.event.Notice;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.gone.GonePoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.DeviceCheck;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.PodContainer;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.observation.SickNpus;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.report.PoolFindings;
import dev.kvpool.operator.pool.report.PoolNotices;
import dev.kvpool.operator.pool.report.PoolStatus;
import dev.kvpool.operator.pool.roll.RollPool;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.javaoperatorsdk.operator.processing.event.ResourceID;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * No reason is a mere promise: for each one of conditions and events there is a pool that comes to have it. The compiler refuses
 * this file when one is forgotten.
 */
class EveryReasonIsProducedTest {
    private static final String SPEC = "{storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final String SMALLER = "{replicas: 1, storage: [{name: a, capacity: 1Gi}]}";
    private static final String PER_NODE = "{storage: [{name: a, capacity: 1Gi, perNode: {nodeSelector: {a: b}}}]}";
    private static final String HOST_PATH =
            "{storage: [{name: a, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /kv}}]}";
    private static final String TWO_SETS =
            "{transferEngine: demo, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi}]}";
    private static final Outcome NOTHING_DONE = new Outcome(List.of(), List.of());
    private static final PoolReport ALL_READY = report("ready", "ready");
    private static final PoolReport ONE_AWAY = report("ready", "away");

    @ParameterizedTest
    @EnumSource(Reason.class)
    void aConditionComesToHaveIt(Reason reason) {
        assertThat(reasons(reason)).contains(reason);
    }

    @ParameterizedTest
    @EnumSource(EventReason.class)
    void anEventComesToHaveIt(EventReason reason) {
        assertThat(events(reason)).extracting(Notice::reason).contains(reason);
    }

    private static String secure(String mode) {
        return "{security: {mode: %s}, storage: [{name: a, capacity: 1Gi, replicas: 2}]}".formatted(mode);
    }

    private static String guaranteed(String bytes) {
        return ("{security: {mode: Required}, tenants: [{name: default, serviceAccounts: [{namespace: x, name: y}],"
                        + " bytes: {guaranteed: %s}}], ")
                .formatted(bytes);
    }

    private static Set<Reason> reasons(Reason reason) {
        return switch (reason) {
            case COMPLETE,
                    SERVING,
                    UP_TO_DATE,
                    VALID,
                    APPLIED,
                    ELECTED,
                    ALL_NODES_READY,
                    SAME_VERSION,
                    NO_UPGRADE,
                    NO_DRAIN -> of(whole(ALL_READY));
            case SERVING_WITHOUT_STANDBY -> of(new PoolSketch(SPEC).set("a", 2).masters(1, 1, ALL_READY));
            case STARTING, NODES_NOT_READY, PARTS_MISSING -> of(whole(ONE_AWAY));
            case NAMESPACE_REFUSES_POD_TEMPLATE ->
                of(new PoolSketch(
                                "{masters: {podTemplate: {containerSecurityContext: {privileged: true}}}, storage: []}")
                        .podSecurity("baseline"));
            case SSD_OFF -> of(whole(withoutSsd()));
            case INDEX_FULL -> of(whole(Reports.full("the index is full", ALL_READY)));
            case AWAITS_WITNESS -> of(whole(Reports.awaiting(List.of("demo-a-1"), List.of("demo-a-0"), ONE_AWAY)));
            case NODE_SET_APART -> of(whole(report("ready", "set_apart")));
            case STORAGE_INCOMPLETE -> of(whole(ONE_AWAY).status(ready()));
            case NOT_SERVING -> of(new PoolSketch(SPEC).set("a", 2).status(ready()));
            case NO_LEADER, STORAGE_NOT_OBSERVED, VERSION_NOT_OBSERVED -> of(new PoolSketch(SPEC).set("a", 2));
            case SEVERAL_LEADERS -> of(whole(ALL_READY).says("demo-master-1", alsoLeading()));
            case LEADER_NOT_SERVING -> of(whole(ALL_READY).says("demo-master-0", recovering()));
            case LEADER_SILENT -> of(whole(ALL_READY).silent("demo-master-0"));
            case LEADER_DIED -> of(whole(ALL_READY).silent("demo-master-0").pod(deadMaster()));
            case NO_ENGINE_JOINED -> of(new PoolSketch("{storage: []}").masters(2, 1, PoolSketch.leader(List.of())));
            case ENGINES_CONTRIBUTE ->
                of(new PoolSketch("{storage: []}").masters(2, 1, PoolSketch.leader(List.of(Reports.engine("e")))));
            case NO_NODE_SELECTED -> of(new PoolSketch(PER_NODE));
            case REQUEST_NOT_UNDERSTOOD -> of(whole(ALL_READY).annotation(PoolLabels.RESTART, "now"));
            case NODE_LEFT_OUT -> of(new PoolSketch(PER_NODE).node("n".repeat(252), Map.of("a", "b")));
            case PAUSED -> of(new PoolSketch("{paused: true, storage: [{name: a, capacity: 1Gi}]}"));
            case TRANSFER_ENGINE_MISSING, SPEC_INVALID -> of(new PoolSketch(TWO_SETS));
            case OLD_POOL_REMAINS -> of(whole(ALL_READY).child(ofAnOlderPool()));
            case PORT_RANGE_TOO_SMALL ->
                of(new PoolSketch(TWO_SETS).engine("{hostNetwork: true, ports: {base: 40000, count: 3}}"));
            case TLS_REQUIRED, AUTHORITY_VALID -> of(new PoolSketch(secure("Required")));
            case PLAIN_PEERS_ADMITTED -> of(new PoolSketch(secure("Permissive")));
            case PODS_OF_ANOTHER_MODE -> of(new PoolSketch(secure("Required")).set("a", 2));
            case AUTHORITY_PENDING ->
                of(new PoolSketch(secure("Required"))
                        .child(ActiveTrust.with(Map.of("kvpool.dev/ca-state", "Pending"))));
            case AUTHORITY_ENDS_SOON ->
                of(new PoolSketch(secure("Required"))
                        .child(ActiveTrust.with(Map.of("kvpool.dev/ca-not-after", "2026-01-08T00:00:00Z"))));
            case AUTHORITY_ROTATES -> of(rotating());
            case CERTIFICATES_ENDED -> of(enrolled("2026-01-01T11:59:59Z"));
            case TRUST_CHANGED ->
                of(new PoolSketch(secure("Required"))
                        .child(ActiveTrust.with(Map.of("kvpool.dev/ca", "0123456789abcdef"))));
            case CERTIFICATES_OF_DIRECTORIES -> of(new PoolSketch(DirectorySpec.csi()).engine("{}"));
            case CERTIFICATES_NOT_RENEWED ->
                of(new PoolSketch(DirectorySpec.csi())
                        .engine("{}")
                        .masters(
                                2,
                                1,
                                Reports.trusting(
                                        new PoolReport.Trust(
                                                "",
                                                new PoolReport.Certificate(
                                                        "2025-12-31T13:00:00Z", "2026-01-01T13:00:00Z"),
                                                List.of()),
                                        ALL_READY)));
            case CERTIFICATES_UNUSABLE ->
                of(new PoolSketch(DirectorySpec.csi())
                        .engine("{}")
                        .pod(DirectorySpec.pod(
                                "demo-master-0",
                                PoolLabels.ROLE_MASTER,
                                "/etc/kvpool/certificate/tls.crt is missing")));
            case CERTIFICATES_NOT_OBSERVED ->
                of(new PoolSketch(DirectorySpec.csi())
                        .engine("{}")
                        .pod(DirectorySpec.pod("demo-master-0", PoolLabels.ROLE_MASTER, ""))
                        .silent("demo-master-0"));
            case CERTIFICATE_ROOT_ENDS ->
                of(new PoolSketch(DirectorySpec.secrets(DirectorySpec.quoted(CertificateAuthority.create(
                                        UUID.fromString(PoolSketch.UID), PoolSketch.NOON, Duration.ofDays(10))
                                .roots())))
                        .engine("{}"));
            case CERTIFICATES_DO_NOT_FIT -> of(new PoolSketch(DirectorySpec.csi()).engine("{agents: {}}"));
            case GUARANTEES_FIT -> of(whole(ALL_READY, guaranteed("1Gi")));
            case GUARANTEES_SCALED_DOWN -> of(whole(ALL_READY, guaranteed("2Gi")));
            case GUARANTEES_NOT_OBSERVED ->
                of(whole(ALL_READY, guaranteed("1Gi")).silent("demo-master-0"));
            case TENANTS_SHARE_MEMORY ->
                of(new PoolSketch("{security: {mode: Required}, tenants: [{name: one, serviceAccounts: [{namespace: x,"
                        + " name: y}]}], storage: []}"));
            case FABRIC_NOT_TRUSTED ->
                of(new PoolSketch("{security: {mode: Required}}").engine("{protocols: [ucx, tcp]}"));
            case ACCOUNT_IN_TWO_ROLES ->
                of(new PoolSketch(
                        "{security: {mode: Required}, tenants: [{name: default, serviceAccounts: [{namespace: ns,"
                                + " name: demo-storage}]}], storage: [{name: a, capacity: 1Gi}]}"));
            case CLIENTS_CANNOT_BE_SELECTED ->
                of(new PoolSketch(TWO_SETS.replace("{transfer", "{networkPolicy: {clientNamespaces: {a: b}}, transfer"))
                        .engine("{hostNetwork: true, ports: {base: 40000, count: 4}}"));
            case RESOURCES_INVALID -> of(new PoolSketch(withResources("{requests: {cpu: -1}}")));
            case VOLUME_WITHOUT_HUGE_PAGES ->
                of(new PoolSketch(TWO_SETS.replace("1Gi", "1Gi, volume: {type: persistentVolumeClaim}"))
                        .engine("{memory: {hugePages: 2Mi}}"));
            case SOCKET_PATH_TOO_LONG ->
                of(new PoolSketch("{transferEngine: demo, storage: [{name: a, capacity: 1Gi}]}")
                        .engine("{socketDirectory: /%s}".formatted("d".repeat(79))));
            case NAMESPACE_REFUSES_HOST_PATH -> of(new PoolSketch(HOST_PATH).podSecurity("baseline"));
            case NAMESPACE_REFUSES_HOST_NETWORK ->
                of(new PoolSketch(TWO_SETS)
                        .engine("{hostNetwork: true, ports: {base: 40000, count: 4}}")
                        .podSecurity("baseline"));
            case NAMESPACE_REFUSES_MEMORY_LOCK ->
                of(new PoolSketch(TWO_SETS)
                        .engine("{protocols: [ascend, tcp], accelerator: {chip: A2}}")
                        .podSecurity("baseline"));
            case REMOVES_DIRECTORIES -> of(whole(ALL_READY).node("n1", Map.of()).child(directory()));
            case MEMORY_LIMIT_TOO_SMALL -> of(new PoolSketch(withResources("{limits: {memory: 1Mi}}")));
            case CAPACITY_NOT_IN_PAGES ->
                of(new PoolSketch(TWO_SETS.replace("1Gi", "65Mi")).engine("{memory: {hugePages: 2Mi}}"));
            case PROTOCOLS_DO_NOT_MIX ->
                of(new PoolSketch(
                                "{transferEngine: demo, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi, transferEngine: cards}]}")
                        .engine("{protocols: [ascend, tcp], accelerator: {chip: A3}}")
                        .engine("cards", "{protocols: [ucx, tcp]}"));
            case TCP_OF_SOME ->
                of(new PoolSketch(
                                "{transferEngine: demo, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi, transferEngine: plain}]}")
                        .engine("{protocols: [ascend], accelerator: {chip: A3}}")
                        .engine("plain", "{protocols: [tcp]}"));
            case STORAGE_WITHOUT_DEVICES -> of(withNpus(", mode: Embedded", "1Gi"));
            case LINK_WITHOUT_HOST_MEMORY -> of(withNpus(", transfer: {link: HCCS}", "1Gi"));
            case LEASE_TOO_SHORT -> of(withNpus(", transfer: {transferTimeout: 7s}", "1Gi"));
            case ENVIRONMENT_OF_FIELDS ->
                of(withNpus("", "1Gi, podTemplate: {env: [{name: ASCEND_BUFFER_POOL, value: '4:8'}]}"));
            case PORTS_OVERLAP ->
                of(new PoolSketch(TWO_SETS)
                        .engine("{hostNetwork: true, protocols: [ascend, tcp], accelerator: {chip: A3}}")
                        .ports("elsewhere/other", "StatefulSet/other-a", 20100));
            case OF_EARLIER_OPERATOR ->
                of(new PoolSketch(SPEC)
                        .lease("demo-master-0", 1)
                        .settings(PoolSketch.PLATFORM_USER)
                        .madeBy(PoolSketch.SETTINGS));
            case WOULD_LOSE_BYTES, HELD, NOT_CARRIED_OUT -> of(whole(ALL_READY).pod(withEarlierSettings()));
            // PoolLifecycleTest has the API server say so.
            case NAME_TAKEN, APPLY_FAILED -> of(whole(ALL_READY), failed(reason));
            case MASTERS_READ_RULES ->
                of(whole(Reports.goingBy(new PoolReport.CacheRules("0123456789abcdef", ""), ALL_READY)));
            case MIXED_VERSIONS -> of(whole(withProduct("0.1.1", "ready")));
            case NODE_REFUSED -> of(whole(withProduct("0.9.0", "refused")));
            case VERSION_DIFFERS -> of(whole(ALL_READY, "{version: 0.2.0, image: '%s', ".formatted(PoolSketch.IMAGE)));
            case UPGRADING -> of(upgrading(RollPool.DEFAULTS));
            case UPGRADE_PAUSED -> of(upgrading(new UpgradeSpec(1, 0, true, null, false, null)));
            case VERSION_REFUSED ->
                of(new RollPool(2, 2).want(RollPool.NEW).preflight("refused").rounds(20));
            case GOING_BACK -> of(whole(ALL_READY).status(PoolSketch.statusWith(roll(RollPhase.GOING_BACK))));
            case UPGRADE_FAILED ->
                of(upgrading(RollPool.DEFAULTS)
                        .bad(RollPool.NEW)
                        .rounds(20)
                        .later(Duration.ofMinutes(11))
                        .rounds(50));
            case REMOVES_MASTERS -> of(whole(ALL_READY, "{masters: {replicas: 1}, "));
            case REPLACES_PODS -> of(whole(ALL_READY).child(masters()));
            case WAITS_FOR_DRAIN, EMPTYING, CARRYING_OUT -> of(smaller());
            case DRAIN_WAITS -> of(new PoolSketch(SMALLER).set("a", 2));
            case LEFTOVERS ->
                of(smaller()
                        .ledAllAlong()
                        .says("demo-master-0", report("ready", "draining"))
                        .status(PoolSketch.statusWith(List.of(drain(StepState.UNDER_WAY, 20)))));
            case EMPTIED_BY_HAND -> of(whole(report("ready", "draining")));
            case MAY_BE_EVICTED -> of(evictable());
            case DRAIN_CANCELLED ->
                of(whole(ALL_READY).status(PoolSketch.statusWith(List.of(drain(StepState.UNDER_WAY, 1)))));
            case RUNTIME_FOUND -> of(found(""));
            case CANN_LIBRARY_NOT_FOUND, SYMBOL_MISSING, DRIVER_TOO_OLD, NO_DEVICE -> of(found(reason.text()));
            case DEVICE_UNHEALTHY -> of(found("").node("worker", sick()));
            case DEVICES_NOT_CHECKED -> of(withNpus("", "1Gi"));
            case NOT_USED -> of(EngineSketch.status());
            case ENGINE_READY -> of(EngineSketch.status(EngineSketch.pool(1, 1, "shm", "tcp")));
            case NODES_MISSING -> of(EngineSketch.status(EngineSketch.pool(0, 1, "shm", "tcp")));
            case AGENTS_MISSING -> of(EngineSketch.statusOf("{agents: {}}", EngineSketch.poolWithAgents(0, 1)));
            case PROTOCOLS_MISSING -> of(EngineSketch.status(EngineSketch.pool(1, 1, "tcp")));
        };
    }

    /** A storage node has a certificate until then. */
    private static PoolSketch enrolled(String until) {
        return new PoolSketch(secure("Required"))
                .masters(
                        2,
                        1,
                        Reports.trusting(
                                new PoolReport.Trust(
                                        "",
                                        null,
                                        List.of(new PoolReport.TrustOfMember("node/demo-a-0", "", "", until, 0))),
                                ALL_READY));
    }

    private static PoolSketch rotating() {
        return new PoolSketch(secure("Required")).child(ActiveTrust.rotating());
    }

    private static List<Notice> events(EventReason reason) {
        KvCachePoolStatus none = KvCachePoolStatus.EMPTY;
        return switch (reason) {
            case CHANGED -> PoolNotices.of(ready(), ready(), new Outcome(List.of("Service demo-leader"), List.of()));
            case LEADER_CHANGED, READY -> PoolNotices.of(none, ready(), NOTHING_DONE);
            case SEVERAL_LEADERS -> after(ready(), whole(ALL_READY).says("demo-master-1", alsoLeading()));
            case LEADER_DIED ->
                after(ready(), whole(ALL_READY).silent("demo-master-0").pod(deadMaster()));
            case FAILED_OVER -> after(ready(), whole(afterTakeover()));
            case AUTHORITY_ROTATION_STARTED ->
                after(next(new PoolSketch(secure("Required")), NOTHING_DONE), rotating());
            case AUTHORITY_ROTATION_FINISHED ->
                after(next(rotating(), NOTHING_DONE), new PoolSketch(secure("Required")));
            case NOT_READY -> after(ready(), new PoolSketch(SPEC).set("a", 2));
            case SPEC_INVALID -> after(none, new PoolSketch(TWO_SETS));
            case PAUSED -> after(none, new PoolSketch("{paused: true, storage: [{name: a, capacity: 1Gi}]}"));
            case HELD_BACK -> after(ready(), whole(ALL_READY).pod(withEarlierSettings()));
            case APPLY_FAILED ->
                PoolNotices.of(ready(), next(whole(ALL_READY), failed(Reason.APPLY_FAILED)), NOTHING_DONE);
            case VERSION_MISMATCH -> after(ready(), whole(withProduct("0.9.0", "refused")));
            case UPGRADE_STARTED -> rolls(RollPhase.PREFLIGHT, RollPhase.ROLLING);
            case UPGRADE_STEP ->
                PoolNotices.of(
                        PoolSketch.statusWith(roll(RollPhase.ROLLING)),
                        PoolSketch.statusWith(
                                roll(RollPhase.ROLLING), List.of(step(StepCause.UPGRADE, StepState.UNDER_WAY))),
                        NOTHING_DONE);
            case UPGRADE_FINISHED ->
                PoolNotices.of(PoolSketch.statusWith(roll(RollPhase.FINALISING)), none, NOTHING_DONE);
            case VERSIONS_RAISED ->
                PoolNotices.of(PoolSketch.statusWith(speaking(1)), PoolSketch.statusWith(speaking(2)), NOTHING_DONE);
            case UPGRADE_BLOCKED -> rolls(RollPhase.PREFLIGHT, RollPhase.BLOCKED);
            case UPGRADE_GOES_BACK -> rolls(RollPhase.ROLLING, RollPhase.GOING_BACK);
            case UPGRADE_FAILED -> rolls(RollPhase.GOING_BACK, RollPhase.FAILED);
            case SETTINGS_STEP -> steps(step(StepCause.SETTINGS, StepState.UNDER_WAY));
            case ROLLOUT_TURN -> {
                List<Notice> told = new ArrayList<>();
                new Rollout(1, () -> PoolSketch.NOON, new SimpleMeterRegistry())
                        .takes(new ResourceID("demo", "ns"), Stream.of(), told::add);
                yield told;
            }
            case MASTER_REMOVED ->
                steps(new StepStatus(
                        "demo-master-1",
                        StepKind.REMOVE,
                        StepCause.SCALE_DOWN,
                        StepState.UNDER_WAY,
                        PoolSketch.NOON.toString()));
            case HANDOVER_STARTED ->
                steps(new StepStatus(
                        "demo-master-0",
                        StepKind.HAND_OVER,
                        StepCause.REQUEST,
                        StepState.UNDER_WAY,
                        PoolSketch.NOON.toString()));
            case STEP_FAILED ->
                steps(step(StepCause.SETTINGS, StepState.UNDER_WAY).in(StepState.FAILED, "it did not get ready"));
            case DRAIN_STARTED -> drains(StepState.UNDER_WAY);
            case DRAIN_FINISHED -> drains(StepState.EMPTY);
            case DRAIN_CANCELLED -> takenBack(StepCause.SCALE_DOWN);
            case DRAIN_WAITS -> cordoned(StepState.WAITING);
            case EVICTION_ALLOWED -> cordoned(StepState.KEPT);
            case DRAIN_HANDED_BACK -> takenBack(StepCause.CORDON);
            case DRAIN_LEFTOVERS -> drains(StepState.LEFTOVERS);
            case OBJECTS_DROPPED -> drains(StepState.DROPPED);
            case ASCEND_RUNTIME_NOT_READY -> after(ready(), found("NoDevice"));
            case DIRECTORY_GOES -> GonePoolSketch.notices(directory());
            case DIRECTORY_REMAINS -> GonePoolSketch.notices(directory(), "Failed");
        };
    }

    private static PoolSketch whole(PoolReport report) {
        return whole(report, "{");
    }

    private static PoolSketch whole(PoolReport report, String start) {
        return new PoolSketch(start + SPEC.substring(1)).set("a", 2).masters(2, 1, report);
    }

    private static PoolSketch smaller() {
        return new PoolSketch(SMALLER).set("a", 2).masters(2, 1, ALL_READY);
    }

    private static PoolSketch withNpus(String more, String set) {
        return new PoolSketch("{transferEngine: demo, storage: [{name: a, capacity: %s}]}".formatted(set))
                .engine("{protocols: [ascend, tcp], accelerator: {chip: A3%s}}".formatted(more));
    }

    private static SickNpus sick() {
        return SickNpus.of(Map.of("ManuallySeparateNPU", "Ascend910-0"));
    }

    private static PoolSketch found(String reason) {
        DeviceCheck check = new DeviceCheck(reason, false, List.of(0), "", "");
        return withNpus("", "1Gi").pod(PoolSketch.checked("demo-a-0", "a", check));
    }

    private static String withResources(String resources) {
        return "{storage: [{name: a, capacity: 1Gi, resources: %s}]}".formatted(resources);
    }

    private static StatefulSet masters() {
        StatefulSet masters = PoolSketch.statefulSet("master", 2);
        masters.getMetadata().getLabels().remove(PoolLabels.SET);
        return masters;
    }

    private static ObservedPod withEarlierSettings() {
        return PoolSketch.pod("demo-a-1", PoolLabels.ROLE_STORAGE, "a", true, "earlier");
    }

    private static PoolReport report(String first, String second) {
        return PoolSketch.leader(List.of(
                PoolSketch.node("demo-a-0", first, "", 1 << 20, 1),
                PoolSketch.node("demo-a-1", second, "", 1 << 20, 1)));
    }

    private static PoolReport withoutSsd() {
        List<PoolReport.Node> nodes = ALL_READY.nodes();
        return PoolSketch.leader(List.of(nodes.get(0), Reports.withoutSsd("writing: No space left", nodes.get(1))));
    }

    private static ObservedPod deadMaster() {
        ObservedPod master = PoolSketch.pod("demo-master-0", PoolLabels.ROLE_MASTER, "", true, "a");
        return PoolSketch.ended(master, PoolSketch.IMAGE, new PodContainer.Ended(137, ""));
    }

    private static PoolReport afterTakeover() {
        PoolReport report = ALL_READY;
        return Reports.after(new PoolReport.Takeover(1, "died", "demo-master-1", 57, ""), report);
    }

    private static PoolReport alsoLeading() {
        return Altered.of(ALL_READY)
                .with("name", "demo-master-1")
                .with("epoch", 2L)
                .build();
    }

    private static PoolReport recovering() {
        return Altered.of(ALL_READY).with("state", "recovering").build();
    }

    private static PoolReport withProduct(String product, String state) {
        PoolReport.Node other = Reports.node("demo-a-1", state)
                .with("reason", "why")
                .with("product", product)
                .build();
        return PoolSketch.leader(List.of(PoolSketch.node("demo-a-0", "ready", "", 0, 0), other));
    }

    private static ConfigMap directory() {
        return PoolSketch.directories(
                PoolSketch.UID,
                PoolSketch.UID,
                DeletionPolicy.DELETE,
                Map.of("a.n1", "/dev/shm/kvpool/" + PoolSketch.UID + ".a,released"));
    }

    private static ConfigMap ofAnOlderPool() {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withName("demo-client")
                .addNewOwnerReference()
                .withApiVersion(ApiGroup.API_VERSION)
                .withKind("KvCachePool")
                .withUid("older")
                .endOwnerReference()
                .endMetadata()
                .build();
    }

    private static RollPool upgrading(UpgradeSpec options) {
        return new RollPool(2, 2)
                .want(RollPool.NEW)
                .preflight("rolling-warm")
                .options(options)
                .rounds(3);
    }

    private static RollStatus roll(RollPhase phase) {
        return new RollStatus(
                "kvpool:9", PoolSketch.IMAGE, phase, RollMode.WARM, PoolSketch.NOON.toString(), "why", null);
    }

    private static VersionStatus speaking(int wire) {
        return new VersionStatus(null, null, null, wire, 1, null);
    }

    private static StepStatus step(StepCause because, StepState state) {
        return new StepStatus("demo-a-0", StepKind.RESTART, because, state, PoolSketch.NOON.toString());
    }

    private static List<Notice> takenBack(StepCause because) {
        return steps(new StepStatus(
                "demo-a-0", StepKind.TAKE_BACK, because, StepState.UNDER_WAY, PoolSketch.NOON.toString()));
    }

    private static List<Notice> steps(StepStatus step) {
        return PoolNotices.of(KvCachePoolStatus.EMPTY, PoolSketch.statusWith(List.of(step)), NOTHING_DONE);
    }

    private static StepStatus drain(StepState phase, int minutesAgo) {
        String since = PoolSketch.NOON.minus(Duration.ofMinutes(minutesAgo)).toString();
        return PoolSketch.emptying("demo-a-1", phase, since, null);
    }

    /** A storage node that may be evicted from the one Kubernetes node. */
    private static PoolSketch evictable() {
        return whole(ALL_READY)
                .ledAllAlong()
                .cordoned("worker")
                .status(PoolSketch.statusWith(List.of(onCordoned("0"), onCordoned("1"))));
    }

    private static StepStatus onCordoned(String ordinal) {
        String since = PoolSketch.NOON.minus(Duration.ofHours(1)).toString();
        return PoolSketch.emptying("demo-a-" + ordinal, StepState.DROPPED, since, "worker");
    }

    private static List<Notice> rolls(RollPhase before, RollPhase now) {
        return PoolNotices.of(PoolSketch.statusWith(roll(before)), PoolSketch.statusWith(roll(now)), NOTHING_DONE);
    }

    private static List<Notice> drains(StepState phase) {
        return PoolNotices.of(KvCachePoolStatus.EMPTY, PoolSketch.statusWith(List.of(drain(phase, 1))), NOTHING_DONE);
    }

    private static List<Notice> cordoned(StepState phase) {
        String since = PoolSketch.NOON.toString();
        StepStatus drain = PoolSketch.emptying("demo-a-1", phase, since, "worker");
        return PoolNotices.of(KvCachePoolStatus.EMPTY, PoolSketch.statusWith(List.of(drain)), NOTHING_DONE);
    }

    private static List<Notice> after(KvCachePoolStatus before, PoolSketch sketch) {
        return PoolNotices.of(before, next(sketch.status(before), NOTHING_DONE), NOTHING_DONE);
    }

    private static KvCachePoolStatus ready() {
        return next(whole(ALL_READY), NOTHING_DONE);
    }

    private static Outcome failed(Reason reason) {
        return new Outcome(List.of(), List.of(new Finding(reason, "Service demo-leader: why")));
    }

    private static KvCachePoolStatus next(PoolSketch sketch, Outcome outcome) {
        PoolObservation seen = sketch.observation();
        return new PoolStatus(PoolSketch.SETTINGS)
                .next(seen, PoolValidator.validate(seen, PoolSketch.SETTINGS), sketch.plan(), outcome);
    }

    private static Set<Reason> of(PoolSketch sketch) {
        return of(sketch, NOTHING_DONE);
    }

    private static Set<Reason> of(PoolSketch sketch, Outcome outcome) {
        List<Finding> problems = PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS);
        return new PoolFindings(sketch.observation(), sketch.plan(), PoolSketch.SETTINGS)
                .all(problems, outcome).stream().map(Finding::reason).collect(Collectors.toSet());
    }

    private static Set<Reason> of(TransferEngineStatus status) {
        Set<String> texts = status.conditions().stream().map(Condition::reason).collect(Collectors.toSet());
        return Stream.of(Reason.values())
                .filter(reason -> texts.contains(reason.text()))
                .collect(Collectors.toSet());
    }

    private static Set<Reason> of(RollPool pool) {
        return Set.of(pool.plan().finding().reason());
    }
}
