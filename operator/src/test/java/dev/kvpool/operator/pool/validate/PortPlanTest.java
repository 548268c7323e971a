// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.NodePorts;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Ports of storage nodes: the same for all on the pods' network, each set's own on the network of nodes. */
class PortPlanTest {
    private static final String TWO_SETS =
            "{transferEngine: demo, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi}]}";
    private static final String HOST = "{hostNetwork: true, ports: {base: 40000, count: 6}}";

    @Test
    void onTheNetworkOfPodsAllUseTheSame() {
        PortPlan plan = plan(new PoolSketch(TWO_SETS).engine("{ports: {base: 40000}}"));

        assertThat(plan.ports()).isEqualTo(Map.of("a", new NodePorts(40000, 9301), "b", new NodePorts(40000, 9301)));
    }

    @Test
    void onTheNetworkOfNodesEachSetGetsItsOwn() {
        PortPlan plan = plan(new PoolSketch(TWO_SETS).engine(HOST));

        assertThat(plan.ports()).isEqualTo(Map.of("a", new NodePorts(40000, 40001), "b", new NodePorts(40002, 40003)));
        assertThat(plan.problems()).isEmpty();
    }

    @Test
    void setsWithDifferentEnginesAreOnDifferentNetworksAndInDifferentRanges() {
        PortPlan plan = plan(new PoolSketch("""
                        {transferEngine: demo, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi, transferEngine: host},
                         {name: c, capacity: 1Gi, transferEngine: other}]}""")
                .engine("{ports: {base: 40000}}")
                .engine("host", HOST)
                .engine("other", "{hostNetwork: true, ports: {base: 40000, count: 2}}"));

        assertThat(plan.ports()).isEqualTo(Map.of("a", new NodePorts(40000, 9301), "b", new NodePorts(40000, 40001)));
        assertThat(plan.problems())
                .singleElement()
                .extracting(Finding::message)
                .asString()
                .startsWith("TransferEngine other has ports 40000 to 40001")
                .contains("None are left for storage set c. Raise ports.count to 4");
    }

    @Test
    void agentsHavePortsBesideTheSetsAndMoveWhenAnotherPoolHasTheirs() {
        String agents = "{hostNetwork: true, ports: {base: 40000, count: 8}, agents: {}}";
        PoolSketch sketch = new PoolSketch(TWO_SETS)
                .engine(agents)
                .ports("ns/demo", "StatefulSet/demo-a", 40000)
                .ports("ns/demo", "StatefulSet/demo-b", 40002)
                .ports("ns/demo", "DaemonSet/demo-agent", 40004);

        assertThat(plan(sketch).ports()).containsEntry(PoolNames.AGENT, new NodePorts(40004, 40005));
        assertThat(plan(sketch.ports("elsewhere/other", "StatefulSet/other-a", 40004))
                        .ports())
                .as("pool elsewhere/other sorts first")
                .containsEntry(PoolNames.AGENT, new NodePorts(40006, 40007));
        assertThat(plan(new PoolSketch(TWO_SETS).engine("{agents: {}}")).ports())
                .containsEntry(PoolNames.AGENT, new NodePorts(50061, 9401));
    }

    @Test
    void portsOfOtherPoolsAndOfRemovedSetsAreNotTaken() {
        PortPlan plan = plan(new PoolSketch(TWO_SETS)
                .engine("{hostNetwork: true, ports: {base: 40000, count: 10}}")
                .ports("elsewhere/other", "StatefulSet/other-a", 40001)
                .ports("ns/demo", "StatefulSet/demo-removed", 40006));

        assertThat(plan.ports()).isEqualTo(Map.of("a", new NodePorts(40004, 40005), "b", new NodePorts(40008, 40009)));
    }

    @Test
    void aSetKeepsItsPortsWhenTheOrderOfTheSpecChanges() {
        PortPlan plan = plan(
                new PoolSketch("{transferEngine: demo, storage: [{name: b, capacity: 1Gi}, {name: a, capacity: 1Gi}]}")
                        .engine(HOST)
                        .ports("ns/demo", "StatefulSet/demo-a", 40000)
                        .ports("ns/demo", "StatefulSet/demo-b", 40002));

        assertThat(plan.ports()).isEqualTo(Map.of("a", new NodePorts(40000, 40001), "b", new NodePorts(40002, 40003)));
    }

    @Test
    void aSetThatChangesItsFormGetsOthersAsBothFormsMayShareANode() {
        PortPlan plan = plan(new PoolSketch("{transferEngine: demo, storage: [{name: a, capacity: 1Gi, perNode: {}}]}")
                .engine(HOST)
                .ports("ns/demo", "StatefulSet/demo-a", 40000));

        assertThat(plan.ports()).isEqualTo(Map.of("a", new NodePorts(40002, 40003)));
    }

    @Test
    void portsOutsideOfTheRangeAreGivenUp() {
        PortPlan plan = plan(new PoolSketch(TWO_SETS).engine(HOST).ports("ns/demo", "StatefulSet/demo-a", 50000));

        assertThat(plan.ports()).containsEntry("a", new NodePorts(40000, 40001));
    }

    @Test
    void ofTwoPoolsThatTookTheSameTheLaterOneMoves() {
        PoolSketch sketch = new PoolSketch(TWO_SETS)
                .engine(HOST)
                .ports("a-namespace/other", "StatefulSet/other-a", 40000)
                .ports("ns/demo", "StatefulSet/demo-a", 40000);
        assertThat(plan(sketch).ports()).containsEntry("a", new NodePorts(40002, 40003));

        // Its nodes have run: moving would cost their memory, and Kubernetes keeps the two off one node.
        assertThat(plan(sketch.set("a", 1)).ports()).containsEntry("a", new NodePorts(40000, 40001));
    }

    @Test
    void aRangeThatIsTooSmallIsNamedWithTheRemedy() {
        PoolSketch sketch = new PoolSketch(TWO_SETS).engine("{hostNetwork: true, ports: {base: 40000, count: 3}}");

        assertThat(PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS))
                .containsExactly(new Finding(
                        Reason.PORT_RANGE_TOO_SMALL,
                        "TransferEngine demo has ports 40000 to 40002: two for each storage set of the pools that use it with"
                                + " hostNetwork, and for their agents. None are left for storage set b. Raise ports.count to 5 or more,"
                                + " or use a transfer engine with other ports."));
        assertThat(sketch.plan().apply()).isEmpty();
    }

    private static PortPlan plan(PoolSketch sketch) {
        return PortPlan.of(sketch.observation());
    }
}
