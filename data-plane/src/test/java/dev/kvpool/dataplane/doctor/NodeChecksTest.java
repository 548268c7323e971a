// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.doctor.CheckResult.Level;
import dev.kvpool.dataplane.doctor.NodeAnswer.Outcome;
import dev.kvpool.dataplane.doctor.NodeAnswer.Way;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NodeChecksTest {
    private static final String BOOT = "0b00-7";

    @Test
    void nodesThatAnswerAreOneFindingWithTheSlowest() {
        List<NodeAnswer> answers = List.of(tcp("a", open(2)), tcp("b", open(7)));

        assertThat(NodeChecks.judge(pool(answers), answers)).singleElement().satisfies(finding -> {
            assertThat(finding.level()).isEqualTo(Level.OK);
            assertThat(finding.found()).isEqualTo("2 of 2 answered at their data ports, the slowest after 7 ms");
        });
    }

    @ParameterizedTest
    @CsvSource({
        "UNKNOWN_NAME, not known here, --advertise-host",
        "REFUSED, are refused by the machine, still runs",
        "SILENT, do not answer, networkPolicy.clientNamespaces",
        "SOMEBODY_ELSE, something else answers, a NAT or a proxy",
        "TURNED_AWAY, refuse a client of this version, the pool's version",
        "FORBIDDEN, may not be dialled, firewall of this machine",
    })
    void eachCauseIsAProblemWithItsOwnRemedy(Way way, String found, String remedy) {
        List<NodeAnswer> answers = List.of(tcp("a", Outcome.of(way, "the kernel's words")), tcp("b", open(1)));

        assertThat(NodeChecks.judge(pool(answers), answers))
                .filteredOn(finding -> finding.level() == Level.PROBLEM)
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.found())
                            .startsWith("1 of 2 ")
                            .contains(found, "a at a.pods:50061 (the kernel's words)");
                    assertThat(finding.remedy()).contains(remedy);
                });
    }

    @Test
    void manyWithTheSameTroubleAreOneFinding() {
        List<NodeAnswer> answers = IntStream.range(0, 1000)
                .mapToObj(i -> tcp("n" + i, Outcome.of(Way.SILENT, "Connect timed out")))
                .toList();

        assertThat(NodeChecks.judge(pool(answers), answers))
                .singleElement()
                .satisfies(finding -> assertThat(finding.found())
                        .startsWith("1000 of 1000 do not answer: n0 at ")
                        .endsWith(", n2 at n2.pods:50061 (Connect timed out) and 997 more"));
    }

    @Test
    void nodesThatTheLeaderMissesAreAWarningAndNotDialled() {
        StorageNode away = new StorageNode("b", 0, "away", "has never connected to this master", "", "");
        PoolMap pool = new PoolMap(UUID.randomUUID(), List.of(node("a", ""), away));

        assertThat(NodeChecks.judge(pool, List.of(tcp("a", open(1)))))
                .extracting(CheckResult::level)
                .containsExactly(Level.WARNING, Level.OK);
        assertThat(NodeChecks.judge(pool, List.of(tcp("a", open(1)))).getFirst().found())
                .isEqualTo("1 of 2 are not with the leader: b (away: has never connected to this master)");
        assertThat(NodeChecks.judge(new PoolMap(UUID.randomUUID(), List.of()), List.of()))
                .extracting(CheckResult::level)
                .containsExactly(Level.PROBLEM);
    }

    @ParameterizedTest
    @CsvSource({
        "MISSING, does not exist here, mount the node's data directory",
        "FORBIDDEN, may not open the node's socket, the node's user",
        "REFUSED, no process listens, restart it",
        "SOMEBODY_ELSE, another process has the node's socket, mount the node's data directory",
        "SILENT, does not answer, restart it",
        "TURNED_AWAY, refuses a client of this version, the pool's version",
    })
    void aSocketOfThisMachineThatCannotBeUsedIsAWarningWithItsCause(Way way, String found, String remedy) {
        NodeAnswer answer = new NodeAnswer(node("a", BOOT + ":/data/shm.sock"), open(1), Outcome.of(way, ""));

        assertThat(TransportChecks.judge(List.of(answer), BOOT, new UcxLibrary("libucp.so.0", "")))
                .first()
                .satisfies(finding -> {
                    assertThat(finding.level()).isEqualTo(Level.WARNING);
                    assertThat(finding.found()).contains("a at /data/shm.sock", "by tcp all the same", found);
                    assertThat(finding.remedy()).contains(remedy);
                });
    }

    @Test
    void aNodeThatIsGoneIsNotSaidToBeUsedByTcp() {
        NodeAnswer gone = new NodeAnswer(
                node("a", BOOT + ":/data/shm.sock"), Outcome.of(Way.REFUSED, ""), Outcome.of(Way.MISSING, ""));

        assertThat(TransportChecks.judge(List.of(gone), BOOT, new UcxLibrary("libucp.so.0", "")))
                .extracting(CheckResult::subject)
                .containsExactly("ucx");
    }

    @Test
    void whyTcpIsSaidForNodesThatOfferNothingElseAndForThoseOfOtherMachines() {
        NodeAnswer none = tcp("a", open(1));
        NodeAnswer elsewhere = new NodeAnswer(node("b", "other-boot:/data/shm.sock"), open(1), Outcome.NOT_TRIED);
        NodeAnswer here = new NodeAnswer(node("c", BOOT + ":/data/shm.sock"), open(1), open(0));
        UcxLibrary ucx = new UcxLibrary("libucp.so.0", "libucp.so.0 cannot be loaded");

        assertThat(TransportChecks.judge(List.of(none), BOOT, ucx))
                .extracting(CheckResult::found)
                .containsExactly(
                        "1 of 1 offer none, so clients on their machines use tcp as well: a",
                        "clients here cannot use it: libucp.so.0 cannot be loaded");
        assertThat(TransportChecks.judge(List.of(elsewhere), BOOT, ucx)
                        .getFirst()
                        .found())
                .isEqualTo("none of the nodes that offer it is on this machine, so clients here use tcp or ucx");
        assertThat(TransportChecks.judge(List.of(elsewhere), "", ucx).getFirst().found())
                .contains("does not tell its boot id");
        assertThat(TransportChecks.judge(List.of(elsewhere, here), BOOT, ucx).getFirst())
                .satisfies(finding -> assertThat(finding.level()).isEqualTo(Level.OK))
                .satisfies(finding -> assertThat(finding.found()).startsWith("used with c on this machine"));
    }

    @Test
    void ucxIsLoadedOnlyWhereItLeavesSignalsAlone() {
        assertThat(UcxLibrary.look(Map.of()).problem()).contains("UCX_ERROR_SIGNALS");
        assertThat(UcxLibrary.look(Map.of("UCX_ERROR_SIGNALS", "", "KVPOOL_UCX_LIBRARY", "/none/libucp.so"))
                        .problem())
                .startsWith("/none/libucp.so cannot be loaded");
        assertThat(UcxLibrary.look(Map.of("UCX_ERROR_SIGNALS", "", "KVPOOL_UCX_LIBRARY", "libc.so.6"))
                        .problem())
                .isEqualTo("libc.so.6 has no function ucp_ep_close_nbx");
    }

    @Test
    void onlyALeadersDocumentIsRead() {
        String document = """
                {"role":"leader","poolId":"11111111-2222-3333-4444-555555555555","nodes":[{"id":"a","state":"ready",
                "reason":"","incarnation":"f000000000000001","address":"a:1","sharedMemory":"boot:/a:b/shm.sock"}]}""";

        StorageNode node = PoolQuestion.read(document).orElseThrow().nodes().getFirst();

        assertThat(node.incarnation()).isEqualTo(0xf000000000000001L);
        assertThat(node.socketOn("boot")).hasValue("/a:b/shm.sock");
        assertThat(node.socketOn("other")).isEmpty();
        assertThat(PoolQuestion.read(document.replace("leader", "standby"))).isEmpty();
        assertThat(PoolQuestion.read(document.replace("f000", "x"))).isEmpty();
        assertThat(PoolQuestion.read("<html>")).isEmpty();
        assertThat(PoolQuestion.read("")).isEmpty();
    }

    private static Outcome open(long tookMs) {
        return new Outcome(Way.OPEN, "", Duration.ofMillis(tookMs));
    }

    private static StorageNode node(String id, String sharedMemory) {
        return new StorageNode(id, 7, "ready", "", id + ".pods:50061", sharedMemory);
    }

    private static NodeAnswer tcp(String id, Outcome outcome) {
        return new NodeAnswer(node(id, ""), outcome, Outcome.NOT_TRIED);
    }

    private static PoolMap pool(List<NodeAnswer> answers) {
        return new PoolMap(
                UUID.randomUUID(), answers.stream().map(NodeAnswer::node).toList());
    }
}
