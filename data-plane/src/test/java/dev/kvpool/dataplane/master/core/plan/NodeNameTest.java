// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.plan;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class NodeNameTest {
    private record Node(String id, String address) implements NodeName.Named {}

    private static final List<Node> NODES = List.of(
            new Node("node-0", "10.0.0.1:9000"),
            new Node("10.0.0.2:12345-0123abcd", "10.0.0.2:12345"),
            new Node("10.0.0.1:9000", "10.0.0.3:9000"),
            new Node("away", ""));

    private static String find(String name) {
        Node found = NodeName.find(NODES, name);
        return found == null ? "none" : found.id();
    }

    @Test
    void aNodeIsMeantByItsIdOrByWhereItServes() {
        assertThat(find("node-0")).isEqualTo("node-0");
        assertThat(find("10.0.0.3:9000")).isEqualTo("10.0.0.1:9000");
        assertThat(find("10.0.0.2:12345")).isEqualTo("10.0.0.2:12345-0123abcd");
        assertThat(find("10.0.0.2:12345-0123abcd")).isEqualTo("10.0.0.2:12345-0123abcd");
    }

    @Test
    void anIdGoesBeforeAnAddress() {
        assertThat(find("10.0.0.1:9000")).isEqualTo("10.0.0.1:9000");
    }

    @Test
    void nothingElseIsMeant() {
        for (String none : List.of("", "node", "10.0.0.2", "10.0.0.2:1234", "-0123abcd")) {
            assertThat(find(none)).as(none).isEqualTo("none");
        }
    }

    @Test
    void aListHasCommas() {
        assertThat(NodeName.list("")).isEmpty();
        assertThat(NodeName.list("a")).containsExactly("a");
        assertThat(NodeName.list("a,b:1,,c")).containsExactly("a", "b:1", "c");
    }
}
