// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.Altered;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.observation.DeviceCheck;
import dev.kvpool.operator.pool.observation.ObservedNode;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.observation.SickNpus;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Node;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Condition AscendRuntimeReady says what storage pods found, and is there only where they open NPUs. */
class AscendRuntimeTest {
    private static final DeviceCheck WELL = new DeviceCheck("", false, List.of(0), "", "");
    private static final DeviceCheck WITHOUT_CANN =
            new DeviceCheck("CannLibraryNotFound", false, List.of(0), "libascendcl.so is not there. Use CANN.", "");
    private static final DeviceCheck WITHOUT_DEVICE =
            new DeviceCheck("NoDevice", false, List.of(), "there is no /dev/davinciN. Look.", "only 8 MiB. Raise it.");

    @Test
    void aPoolWithoutNpusHasNoSuchCondition() {
        assertThat(AscendRuntime.of(new PoolSketch("{storage: [{name: a, capacity: 1Gi}]}")
                        .set("a", 1)
                        .observation()))
                .isEmpty();
        assertThat(AscendRuntime.of(new PoolSketch("{transferEngine: demo, storage: []}")
                        .engine("{protocols: [ascend, tcp], accelerator: {chip: A3, mode: Embedded}}")
                        .observation()))
                .isEmpty();
    }

    @Test
    void allThatFoundTheirsAreTrue() {
        assertThat(finding(WELL, WELL))
                .contains(new Finding(
                        Reason.RUNTIME_FOUND,
                        "All storage pods of set a found CANN and their NPUs when they started."));
    }

    @Test
    void warningsAreSaidWithoutBeingAReason() {
        DeviceCheck warned = new DeviceCheck("", false, List.of(0), "", "only 8 MiB. Raise it.");

        Finding finding = finding(WELL, warned).orElseThrow();

        assertThat(finding.reason()).isEqualTo(Reason.RUNTIME_FOUND);
        assertThat(finding.message()).endsWith("But: Set a, demo-a-1 on node worker: only 8 MiB. Raise it.");
    }

    @Test
    void setNodePodsAndRemedyAreNamedOnceForPodsThatLackTheSame() {
        assertThat(finding(WITHOUT_CANN, WITHOUT_CANN))
                .contains(new Finding(
                        Reason.CANN_LIBRARY_NOT_FOUND,
                        "Set a, demo-a-0 on node worker, demo-a-1 on node worker: libascendcl.so is not there. Use CANN. They move"
                                + " bytes by their other protocols. Pods that are created again look again."));
    }

    @Test
    void whatIsMissingFirstOnTheWayToADeviceIsTheReason() {
        assertThat(finding(WITHOUT_DEVICE, WITHOUT_CANN).map(Finding::reason)).contains(Reason.CANN_LIBRARY_NOT_FOUND);
        assertThat(finding(WITHOUT_DEVICE, WELL).map(Finding::reason)).contains(Reason.NO_DEVICE);
    }

    @Test
    void podsThatDoNotStartAreSaidToBe() {
        DeviceCheck blocking = new DeviceCheck("SymbolMissing", true, List.of(), "CANN is 8.2.", "");
        PoolSketch alone = new PoolSketch("{transferEngine: demo, storage: [{name: a, capacity: 1Gi}]}")
                .engine("{protocols: [ascend], accelerator: {chip: A3}}")
                .pod(PoolSketch.checked("demo-a-0", "a", blocking));

        assertThat(AscendRuntime.of(alone.observation()).orElseThrow().message())
                .endsWith(" They do not start before that.");
    }

    @Test
    void anNpuThatIsNotWellIsNamedWithSetNodeAndPod() {
        SickNpus sick = SickNpus.of(Map.of(
                "DeviceInfoCfg",
                "{\"DeviceInfo\":{\"DeviceList\":{\"huawei.com/Ascend910-NetworkUnhealthy\":\"Ascend910-0\"}}}"));
        PoolSketch pool = pool().pod(PoolSketch.checked("demo-a-0", "a", WELL)).node("worker", sick);

        Finding finding = AscendRuntime.of(pool.observation()).orElseThrow();

        assertThat(finding.reason()).isEqualTo(Reason.DEVICE_UNHEALTHY);
        assertThat(finding.message())
                .startsWith("Of set a, demo-a-0 on node worker has NPU 0, which is without network.");
    }

    /** Where no device plugin writes a ConfigMap that can be read. */
    @Test
    void anNpuThatTheKubeletSaysIsNotWellIsNamedToo() {
        ObservedPod pod = Altered.of(PoolSketch.checked("demo-a-0", "a", WELL))
                .with("sickDevices", List.of("Ascend910-3 of huawei.com/Ascend910"))
                .build();

        Finding finding = AscendRuntime.of(pool().pod(pod).observation()).orElseThrow();

        assertThat(finding.reason()).isEqualTo(Reason.DEVICE_UNHEALTHY);
        assertThat(finding.message())
                .startsWith(
                        "Of set a, demo-a-0 on node worker has Ascend910-3 of huawei.com/Ascend910, which the kubelet says is unhealthy.");
    }

    /** Where neither a ConfigMap nor the status of pods says which NPUs are not well. */
    @Test
    void npusThatAKubeletGivesToNoPodAreAWarning() {
        PoolSketch pool = pool().pod(PoolSketch.checked("demo-a-0", "a", WELL))
                .pod(PoolSketch.checked("demo-a-1", "a", WELL))
                .node(ObservedNode.of(node("worker", "7")))
                .node(ObservedNode.of(node("elsewhere", "7")));

        Finding finding = AscendRuntime.of(pool.observation()).orElseThrow();

        assertThat(finding.reason()).isEqualTo(Reason.RUNTIME_FOUND);
        assertThat(finding.message())
                .endsWith(
                        "when they started. But: The kubelet of node worker gives 1 of huawei.com/Ascend910 to no pod, as unhealthy,"
                                + " and which they are is not known here: a storage pod there may have one. Look at them with npu-smi"
                                + " info.");
        assertThat(AscendRuntime.of(pool().pod(PoolSketch.checked("demo-a-0", "a", WELL))
                                .node(ObservedNode.of(node("worker", "8")))
                                .observation())
                        .orElseThrow()
                        .message())
                .doesNotContain("But:");
    }

    @Test
    void whereItIsKnownWhichNpusTheyAreOthersAreNoMatter() {
        SickNpus sick = SickNpus.of(Map.of("ManuallySeparateNPU", "Ascend910-1"));
        PoolSketch pool = pool().pod(PoolSketch.checked("demo-a-0", "a", WELL))
                .node(ObservedNode.of(node("worker", "7")).with(sick));

        assertThat(AscendRuntime.of(pool.observation()).orElseThrow().message()).doesNotContain("But:");
    }

    /** As where the kubelet's health of devices says that those of the storage pods are well: what is not is another pod's. */
    @Test
    void whereEachStoragePodIsToldTheHealthOfItsNpusOthersAreNoMatter() {
        ObservedPod pod = PoolSketch.checked("demo-a-0", "a", WELL);
        PoolSketch pool = pool().node(ObservedNode.of(node("worker", "7")))
                .pod(told(pod, "huawei.com/Ascend910"))
                .pod(told(PoolSketch.checked("demo-a-1", "a", WELL), "huawei.com/Ascend910"));
        assertThat(AscendRuntime.of(pool.observation()).orElseThrow().message()).doesNotContain("But:");

        pool.pod(told(pod, "rdma/hca"));
        assertThat(AscendRuntime.of(pool.observation()).orElseThrow().message())
                .contains("But: The kubelet of node worker gives 1 of huawei.com/Ascend910 to no pod");
    }

    private static ObservedPod told(ObservedPod pod, String resource) {
        return Altered.of(pod).with("healthTold", Set.of(resource)).build();
    }

    /** With 8 NPUs, and some memory that no pod may have. */
    private static Node node(String name, String allocatable) {
        return new NodeBuilder()
                .withNewMetadata()
                .withName(name)
                .endMetadata()
                .withNewStatus()
                .withCapacity(Map.of("huawei.com/Ascend910", new Quantity("8"), "memory", new Quantity("8Gi")))
                .withAllocatable(
                        Map.of("huawei.com/Ascend910", new Quantity(allocatable), "memory", new Quantity("7Gi")))
                .endStatus()
                .build();
    }

    @Test
    void anNpuOfOtherPodsIsNoMatter() {
        SickNpus sick = SickNpus.of(Map.of("ManuallySeparateNPU", "Ascend910-1"));
        PoolSketch pool = pool().pod(PoolSketch.checked("demo-a-0", "a", WELL)).node("worker", sick);

        assertThat(AscendRuntime.of(pool.observation()).map(Finding::reason)).contains(Reason.RUNTIME_FOUND);
    }

    @Test
    void onePodThatHasNotLookedLeavesItUnknownUnlessAnotherLacksSomething() {
        PoolSketch pool = pool().set("a", 2);
        pool.pod(PoolSketch.checked("demo-a-0", "a", WELL));
        assertThat(AscendRuntime.of(pool.observation()))
                .contains(new Finding(Reason.DEVICES_NOT_CHECKED, "demo-a-1: not looked for NPUs yet."));

        pool.pod(PoolSketch.checked("demo-a-0", "a", WITHOUT_CANN));
        assertThat(AscendRuntime.of(pool.observation()).map(Finding::reason)).contains(Reason.CANN_LIBRARY_NOT_FOUND);
    }

    @Test
    void withoutPodsItIsUnknown() {
        assertThat(AscendRuntime.of(pool().observation()))
                .contains(new Finding(
                        Reason.DEVICES_NOT_CHECKED, "No storage pod of set a is there that could look for its NPUs."));
    }

    private static PoolSketch pool() {
        return new PoolSketch("{transferEngine: demo, storage: [{name: a, capacity: 1Gi, replicas: 2}]}")
                .engine("{protocols: [ascend, tcp], accelerator: {chip: A3}}");
    }

    private static Optional<Finding> finding(DeviceCheck... checks) {
        PoolSketch pool = pool();
        for (int i = 0; i < checks.length; i++) {
            pool.pod(PoolSketch.checked("demo-a-" + i, "a", checks[i]));
        }
        return AscendRuntime.of(pool.observation());
    }
}
