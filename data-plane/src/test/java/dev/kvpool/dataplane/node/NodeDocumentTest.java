// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.node.ReadinessTest.SomeStats;
import org.junit.jupiter.api.Test;

class NodeDocumentTest {
    @Test
    void saysWhatTheNodeHoldsAndWhatItRestored() {
        String json = NodeDocument.of("node-7", SomeStats.withMasters(1, 2), "ucx is not here");

        assertThat(json)
                .isEqualTo("{\"id\":\"node-7\",\"incarnation\":\"0000000000000abc\",\"epoch\":7,"
                        + "\"capacityBytes\":1000,\"usedBytes\":250,\"objects\":3,"
                        + "\"idsHash\":\"000000000000feed\",\"tombstones\":25,"
                        + "\"restored\":{\"objects\":2,\"idsHash\":\"fffffffffffffffe\",\"droppedRecords\":1},"
                        + "\"scrub\":{\"rounds\":21,\"bytes\":22,\"damagedObjects\":20},"
                        + "\"pageBytes\":4096,\"prefault\":{\"bytes\":26,\"doneBytes\":27},"
                        + "\"protocols\":{\"served\":[\"tcp\",\"shm\"],\"problem\":\"ucx is not here\"},"
                        + "\"ucx\":{\"clients\":28,\"refusals\":29,\"writeBytes\":30,\"readBytes\":31},"
                        + "\"ascend\":{\"clients\":42,\"refusals\":43,\"writeBytes\":44,\"readBytes\":45,"
                        + "\"transfers\":46,\"failures\":47},"
                        + "\"copiesIn\":{\"objects\":23,\"bytes\":24},"
                        + "\"ssd\":{\"capacityBytes\":32,\"usedBytes\":33,\"objects\":34,\"off\":true},"
                        + "\"setAside\":{\"damaged\":38,\"foreign\":39,\"bytes\":40},\"replacedLayout\":41}");
    }
}
