// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.preflight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.preflight.Running.Kind;
import dev.kvpool.dataplane.preflight.Running.Member;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PoolDocumentsTest {
    private static final String V = "\"product\":\"0.1.0\",\"wire\":{\"min\":1,\"max\":1},"
            + "\"layout\":{\"min\":1,\"max\":1},\"abi\":{\"min\":1,\"max\":1}";

    private final PoolDocuments documents = new PoolDocuments();

    @Test
    void everybodyThatAnyMasterKnowsCountsOnce() throws Exception {
        documents.add("one:9003", master("p", "m-0", "leader", "{\"id\":\"a\",\"version\":{" + V + "}}"));
        documents.add(
                "two:9003", master("p", "m-1", "standby", "{\"id\":\"a\",\"version\":{" + V + "}},{\"id\":\"away\"}"));

        assertThat(documents.running().members())
                .extracting(Member::kind, Member::name)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(Kind.MASTER, "master m-0"),
                        org.assertj.core.groups.Tuple.tuple(Kind.NODE, "node a"),
                        org.assertj.core.groups.Tuple.tuple(Kind.CLIENT, "client engine and 4 others"),
                        org.assertj.core.groups.Tuple.tuple(Kind.MASTER, "master m-1"));
    }

    @Test
    void theHighestNumberThatAnyMasterTellsIsThePools() throws Exception {
        String active = "\"active\":{\"wire\":%d,\"layout\":%d}";
        String node = "{\"id\":\"a\",\"version\":{" + V + "}," + active.formatted(2, 1) + "}";
        documents.add("one:9003", master("p", "m-0", "leader", node));
        documents.add(
                "two:9003",
                "{" + active.formatted(2, 2) + ","
                        + master("p", "m-1", "standby", "").substring(1));

        assertThat(documents.running().active()).isEqualTo(new ActiveVersions(2, 2));
        assertThat(documents.running().members())
                .extracting(Member::active)
                .containsExactly(
                        ActiveVersions.UNKNOWN,
                        new ActiveVersions(2, 1),
                        ActiveVersions.UNKNOWN,
                        ActiveVersions.UNKNOWN);
    }

    @Test
    void activeNumbersThatAreNoneAreRefused() {
        String nonsense = "{\"active\":{\"wire\":-1,\"layout\":1},"
                + master("p", "m-0", "leader", "").substring(1);

        assertThatThrownBy(() -> documents.add("one:9003", nonsense))
                .isInstanceOf(FailureException.class)
                .hasMessageContaining("one:9003 tells active versions that are none");
    }

    @Test
    void withoutALeaderNobodyKnowsTheClients() throws Exception {
        documents.add("one:9003", master("p", "m-1", "standby", ""));

        assertThatThrownBy(documents::running)
                .isInstanceOf(FailureException.class)
                .hasMessageContaining("no master that was asked leads and serves");
    }

    @Test
    void mastersOfAnotherPoolAreRefused() throws Exception {
        documents.add("one:9003", master("p", "m-0", "leader", ""));

        assertThatThrownBy(() -> documents.add("two:9003", master("q", "m-0", "leader", "")))
                .hasMessageContaining("two:9003 says q, one before said p");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "not json | something else than JSON",
                "{} | did not answer as a master of kvpool",
                "{\"poolId\":\"p\",\"name\":\"m-0\"} | tells no versions of master m-0",
                "{\"poolId\":\"p\",\"name\":\"m-0\",\"version\":{\"wire\":{\"min\":2,\"max\":1}}} | tells no versions",
                "{\"poolId\":\"p\",\"name\":\"m-0\",\"version\":{\"wire\":{\"min\":1,\"max\":99999}}} | tells no versions",
            })
    void whatIsNoAnswerOfAMasterIsNamed(String answer, String expected) {
        assertThatThrownBy(() -> documents.add("one:9003", answer))
                .isInstanceOf(FailureException.class)
                .hasMessageContaining("one:9003")
                .hasMessageContaining(expected);
    }

    private static String master(String pool, String name, String role, String nodes) {
        return "{\"poolId\":\"%s\",\"name\":\"%s\",\"role\":\"%s\",\"state\":\"serving\",\"version\":{%s},\"nodes\":[%s],\"clientVersions\":[%s]}"
                .formatted(
                        pool,
                        name,
                        role,
                        V,
                        nodes,
                        role.equals("leader") ? "{" + V + ",\"count\":5,\"example\":\"engine\"}" : "");
    }
}
