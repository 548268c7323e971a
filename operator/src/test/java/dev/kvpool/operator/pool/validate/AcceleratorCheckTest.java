// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What NPUs cannot do is refused before any pod is made, with its cause and what to do. */
class AcceleratorCheckTest {
    private static final String SET = "storage: [{name: a, capacity: 2Gi}]";

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            storage: [{name: a, capacity: 2Gi}] | mode: Embedded | Set the mode to Dedicated or Shared, or name a transferEngine without ascend in the set
            storage: [{name: a, capacity: 2Gi}] | transfer: {link: HCCS} | does not reach memory of other hosts, and the segments of storage set a are there. Set the link to RoCE, or to Fabric with chip A3.
            storage: [] | mode: Embedded, transfer: {link: HCCS} | the segments of engines (engineSegmentSize 4Gi) are there.
            storage: [{name: a, capacity: 2Gi}], cache: {objectLease: 8s} | transfer: {} | spec.cache.objectLease is 8s, and a read by NPUs may take 3s (connectTimeout) and 5s (transferTimeout of TransferEngine demo)
            storage: [{name: a, capacity: 2Gi, podTemplate: {env: [{name: HCCL_INTRA_ROCE_ENABLE, value: "0"}]}}] | transfer: {} | Storage set a sets HCCL_INTRA_ROCE_ENABLE in its podTemplate, which accelerator.transfer of TransferEngine demo decides
            """)
    void isRefused(String spec, String accelerator, String sentence) {
        assertThat(problems(sketch(spec, accelerator)))
                .singleElement()
                .extracting(Finding::message)
                .asString()
                .contains(sentence);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            storage: [{name: a, capacity: 2Gi}] | transfer: {link: RoCE}
            storage: [{name: a, capacity: 1536Mi}], engineSegmentSize: 1536Mi | transfer: {link: Fabric}
            storage: [{name: a, capacity: 1536Mi}] | transfer: {link: RoCE}
            storage: [] | mode: Embedded
            storage: [{name: a, capacity: 2Gi}], cache: {objectLease: 8001ms} | transfer: {}
            storage: [{name: a, capacity: 2Gi, podTemplate: {env: [{name: ASCEND_GLOBAL_RESOURCE_CONFIG, value: "{}"}]}}] | transfer: {}
            storage: [{name: a, capacity: 2Gi}] | mode: Shared, devices: [3]
            """)
    void isAdmitted(String spec, String accelerator) {
        assertThat(problems(sketch(spec, accelerator))).isEmpty();
    }

    /** They have other network cards, so the pool's clients would reach some of its objects only. */
    @Test
    void setsOfOnePoolHaveNotBothAscendAndUcx() {
        PoolSketch sketch = sketch(
                        "storage: [{name: a, capacity: 2Gi}, {name: b, capacity: 2Gi, transferEngine: cards}]", "")
                .engine("cards", "{protocols: [ucx, tcp]}");

        assertThat(problems(sketch))
                .containsExactly(new Finding(
                        Reason.PROTOCOLS_DO_NOT_MIX,
                        "TransferEngine demo has protocol ascend and TransferEngine cards ucx: they use different network cards,"
                                + " and neither reaches memory that the other registered. Remove one of the two protocols, or make"
                                + " two pools."));
    }

    /** Else a client would go by tcp with all storage nodes of the pool, which a list of ascend alone is to prevent. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            transferEngine: demo, | [tcp] | TransferEngine demo has no protocol tcp, and TransferEngine cards has it: clients
            transferEngine: demo, | [shm, ascend, tcp], accelerator: {chip: A3} | TransferEngine demo has no protocol tcp, and TransferEngine cards has it: clients
            `` | [ascend], accelerator: {chip: A3} | TransferEngine cards has no protocol tcp, and the pool, which names no transferEngine of its own, has it: clients
            """)
    void tcpIsOfAllTransferEnginesOfAPoolOrOfNone(String ofPool, String ofSet, String sentence) {
        PoolSketch sketch = new PoolSketch(
                        "{%s storage: [{name: a, capacity: 2Gi, transferEngine: cards}]}".formatted(ofPool))
                .engine("cards", "{protocols: %s}".formatted(ofSet));
        if (!ofPool.isEmpty()) {
            sketch.engine("{protocols: [ascend], accelerator: {chip: A3}}");
        }

        assertThat(problems(sketch))
                .singleElement()
                .satisfies(problem -> assertThat(problem.reason()).isEqualTo(Reason.TCP_OF_SOME))
                .extracting(Finding::message)
                .asString()
                .startsWith(sentence);
    }

    @Test
    void noTransferEngineOfAPoolNeedsTcp() {
        PoolSketch sketch = new PoolSketch(
                        "{transferEngine: demo, storage: [{name: a, capacity: 2Gi}, {name: b, capacity: 2Gi, transferEngine: cards}]}")
                .engine("{protocols: [ascend], accelerator: {chip: A3}}")
                .engine("cards", "{protocols: [shm, ascend], accelerator: {chip: A3, driverFrom: Host}}");

        assertThat(problems(sketch)).isEmpty();
    }

    @Test
    void aSetThatSpeaksTcpNeedsNoNpuBesideEnginesThatHaveThem() {
        PoolSketch sketch = sketch("storage: [{name: a, capacity: 2Gi, transferEngine: plain}]", "mode: Embedded")
                .engine("plain", "{protocols: [tcp]}");

        assertThat(problems(sketch)).isEmpty();
    }

    @Test
    void onTheNetworkOfNodesNpusAndStorageNodesHaveDifferentPorts() {
        PoolSketch sketch = onHosts("{name: a, capacity: 2Gi}").ports("elsewhere/other", "StatefulSet/other-a", 21599);

        assertThat(problems(sketch))
                .containsExactly(new Finding(
                        Reason.PORTS_OVERLAP,
                        "NPUs of TransferEngine demo have ports 20000 to 21599 of Kubernetes nodes, of which StatefulSet/other-a of"
                                + " pool elsewhere/other has 21599 and 21600. Change accelerator.transfer.basePort, or ports of the"
                                + " other transfer engine."));
        assertThat(problems(onHosts("{name: a, capacity: 2Gi}").ports("elsewhere/other", "StatefulSet/other-a", 21600)))
                .isEmpty();
    }

    @Test
    void portsOfAnotherSetOfThePoolAreLookedAtBeforeItHasThem() {
        PoolSketch sketch = onHosts("{name: a, capacity: 2Gi}, {name: b, capacity: 2Gi, transferEngine: plain}")
                .engine("plain", "{hostNetwork: true, ports: {base: 20500}}");

        assertThat(problems(sketch))
                .singleElement()
                .extracting(Finding::message)
                .asString()
                .contains("of which storage set b has 20500 and 20501.");
    }

    @Test
    void npusOfTwoTransferEnginesHaveTheSamePortsOrOthersOnTheNetworkOfNodes() {
        assertThat(problems(onHosts("{name: a, capacity: 2Gi}")
                        .ports("elsewhere/other", "StatefulSet/other-a", 40000, 20050)))
                .containsExactly(new Finding(
                        Reason.PORTS_OVERLAP,
                        "NPUs of TransferEngine demo have ports 20000 to 21599 of Kubernetes nodes, and those of StatefulSet/other-a"
                                + " of pool elsewhere/other 20050 to 21649: an NPU of one has ports of another NPU of the other. Give"
                                + " both the same accelerator.transfer.basePort, or ones that are 1600 apart."));
        for (int first : new int[] {18400, 20000, 21600}) {
            assertThat(problems(onHosts("{name: a, capacity: 2Gi}")
                            .ports("elsewhere/other", "StatefulSet/other-a", 40000, first)))
                    .as("%d", first)
                    .isEmpty();
        }
        assertThat(
                        problems(
                                onHosts("{name: a, capacity: 2Gi}, {name: b, capacity: 2Gi, transferEngine: later}")
                                        .engine(
                                                "later",
                                                "{hostNetwork: true, protocols: [ascend, tcp], accelerator: {chip: A3, transfer: {basePort: 21500}}}")))
                .singleElement()
                .extracting(Finding::message)
                .asString()
                .contains("and those of TransferEngine later 21500 to 23099");
    }

    @Test
    void onTheNetworkOfPodsTheyMeetNobody() {
        assertThat(problems(sketch(SET, "").ports("elsewhere/other", "StatefulSet/other-a", 20100)))
                .isEmpty();
    }

    private static PoolSketch onHosts(String sets) {
        return new PoolSketch("{transferEngine: demo, storage: [%s]}".formatted(sets))
                .engine("{hostNetwork: true, protocols: [ascend, tcp], accelerator: {chip: A3}}");
    }

    private static PoolSketch sketch(String spec, String accelerator) {
        return new PoolSketch("{transferEngine: demo, %s}".formatted(spec))
                .engine("{protocols: [ascend, tcp], accelerator: {chip: A3%s}}"
                        .formatted(accelerator == null || accelerator.isEmpty() ? "" : ", " + accelerator));
    }

    private static List<Finding> problems(PoolSketch sketch) {
        return PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS);
    }
}
