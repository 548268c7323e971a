// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.Rounding;
import dev.kvpool.operator.pool.observation.Leadership;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.PoolImage;
import dev.kvpool.operator.pool.validate.NamespaceCheck;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tables of the small values: amounts, images, Lease holders, checks of a spec. */
class PoolValuesTest {
    @ParameterizedTest
    @CsvSource({
        "0, 0",
        "1, 1",
        "1023, 1023",
        "1024, 1Ki",
        "1048577, 1048577",
        "1073741824, 1Gi",
        "1181116006, 1181116006"
    })
    void exactAmounts(long bytes, String text) {
        assertThat(ByteAmount.exact(bytes)).hasToString(text);
        assertThat(ByteAmount.bytes(ByteAmount.exact(bytes))).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "99, 99", "12345, 12Ki", "2147418112, 2047Mi", "68719476736, 64Gi", "520093696, 496Mi"})
    void amountsForPeople(long bytes, String text) {
        assertThat(ByteAmount.rounded(bytes)).hasToString(text);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "12345, 12Ki", "2147418112, 2000Mi", "1073741824, 1Gi"})
    void amountsInSentences(long bytes, String text) {
        assertThat(ByteAmount.coarse(bytes)).hasToString(text);
    }

    @ParameterizedTest
    @CsvSource({"1Gi, 1073741824", "1G, 1000000000", "1.5Ki, 1536", "100Ei, 9223372036854775807"})
    void bytesOfAQuantity(String quantity, long bytes) {
        assertThat(ByteAmount.bytes(new Quantity(quantity))).isEqualTo(bytes);
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "99, 99", "100, 100", "101, 100", "123456, 120000", "9223372036854775807, 9200000000000000000"})
    void countsAreRoundedToTwoDigits(long count, long rounded) {
        assertThat(Rounding.twoDigits(count)).isEqualTo(rounded);
    }

    @ParameterizedTest
    @CsvSource({
        "100, 110, 1000, true",
        "100, 111, 1000, false",
        "0, 1, 1000, false",
        "1, 0, 1000, false",
        "0, 0, 0, true",
    })
    void aShownValueStaysWhileLittleChanged(long shown, long actual, long total, boolean calm) {
        assertThat(Rounding.calm(shown, actual, total)).isEqualTo(calm);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "kvpool:0.1.0, -, -, kvpool:0.1.0, 0.1.0",
                "kvpool:0.1.0, -, 0.2.0, kvpool:0.2.0, 0.2.0",
                "host:5000/a/kvpool:0.1.0, -, 0.2.0, host:5000/a/kvpool:0.2.0, 0.2.0",
                "host:5000/a/kvpool, -, 0.2.0, host:5000/a/kvpool:0.2.0, 0.2.0",
                "host/kvpool@sha256:0, -, 0.2.0, host/kvpool:0.2.0, 0.2.0",
                "kvpool:0.1.0, own:x, -, own:x, -",
                "kvpool:0.1.0, own:x, 0.3.0, own:x, 0.3.0",
            })
    void imageAndVersion(String installed, String image, String version, String reference, String expected) {
        String spec = "{%s %s storage: [{name: a, capacity: 1Gi}]}"
                .formatted(
                        image == null ? "" : "image: '" + image + "',",
                        version == null ? "" : "version: " + version + ",");
        var pool = new PoolSketch(spec).observation().spec();
        var settings = new OperatorSettings(installed, "0.1.0", "kvpool-system");

        assertThat(PoolImage.reference(pool, settings, Optional.empty())).isEqualTo(reference);
        assertThat(PoolImage.version(pool, settings, Optional.empty())).isEqualTo(Optional.ofNullable(expected));
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "-, -, kvpool:0.1.0, -, kvpool:0.2.0",
                "-, -, kvpool:0.2.0, 0.2.0, -",
                "-, 0.2.0, kvpool:0.2.0, 0.2.0, -",
                "-, 0.1.0, kvpool:0.1.0, 0.1.0, -",
                "own:x, -, own:x, -, -",
            })
    void aPoolThatRunsAnEarlierVersionKeepsItUntilItsSpecNamesOne(
            String image, String version, String reference, String expected, String offered) {
        String spec = "{%s %s storage: [{name: a, capacity: 1Gi}]}"
                .formatted(
                        image == null ? "" : "image: '" + image + "',",
                        version == null ? "" : "version: " + version + ",");
        var pool = new PoolSketch(spec).observation().spec();
        var settings = new OperatorSettings("kvpool:0.2.0", "0.2.0", "kvpool-system");
        Optional<String> stable = Optional.of(reference.equals("own:x") ? "kvpool:0.1.0" : reference);

        assertThat(PoolImage.reference(pool, settings, stable)).isEqualTo(reference);
        assertThat(PoolImage.version(pool, settings, stable)).isEqualTo(Optional.ofNullable(expected));
        assertThat(PoolImage.offered(pool, settings, stable)).isEqualTo(Optional.ofNullable(offered));
    }

    @Test
    void clientNamespacesAreRefusedOnTheNetworkOfNodes() {
        PoolSketch sketch = new PoolSketch(
                "{transferEngine: demo, networkPolicy: {clientNamespaces: {a: b}}, storage: [{name: a, capacity: 4Gi}]}");

        assertThat(problems(sketch.engine("{}"))).isEmpty();
        assertThat(problems(sketch.engine("{hostNetwork: true, ports: {count: 2}}")))
                .extracting(Finding::reason)
                .containsExactly(Reason.CLIENTS_CANNOT_BE_SELECTED);
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "demo-master-0_0123456789abcdef, 7, demo-master-0, 7",
                "a_b_c, -, a_b, 0",
                "-, 3, -, 0",
                "'', 3, -, 0",
                "nobody, 3, -, 0",
                "_x, 3, -, 0",
            })
    void holderOfALease(String holder, Integer transitions, String pod, long epoch) {
        var lease = new LeaseBuilder()
                .withNewSpec()
                .withHolderIdentity(holder)
                .withLeaseTransitions(transitions)
                .endSpec()
                .build();

        assertThat(Leadership.of(lease))
                .isEqualTo(Optional.ofNullable(pod).map(name -> new Leadership(name, epoch, holder, Optional.empty())));
        assertThat(Leadership.of(new LeaseBuilder().build())).isEmpty();
    }

    @Test
    void aMemoryLimitOfAgentsBelowWhatTheyShareIsRefused() {
        assertThat(problems(withAgents("{stagingSize: 2Gi, resources: {limits: {memory: 2Gi}}}")))
                .containsExactly(new Finding(
                        Reason.MEMORY_LIMIT_TOO_SMALL,
                        "The agents of TransferEngine demo have a memory limit of 2Gi and share up to 2Gi (stagingSize) with"
                                + " engines, which counts against it. Raise or remove the limit."));
        assertThat(problems(withAgents("{stagingSize: 2Gi, resources: {limits: {memory: 2049Mi}}}")))
                .isEmpty();
    }

    @Test
    void agentsNeedANamespaceThatAdmitsHostPath() {
        assertThat(problems(withAgents("{}").podSecurity("privileged"))).isEmpty();
        assertThat(problems(withAgents("{path: /run/sockets}").podSecurity("restricted")))
                .containsExactly(new Finding(
                        Reason.NAMESPACE_REFUSES_HOST_PATH,
                        "Namespace ns has the label pod-security.kubernetes.io/enforce=restricted, which admits no pod with a"
                                + " hostPath volume, and so no agents, whose sockets are in host directory /run/sockets. Set the label to"
                                + " privileged, or remove agents from TransferEngine demo."));
    }

    @Test
    void socketsOfStorageNodesNeedANamespaceThatAdmitsHostPath() {
        assertThat(problems(withSockets("/run/kvpool").podSecurity("privileged")))
                .isEmpty();
        assertThat(problems(withSockets("/run/kvpool").podSecurity("baseline")))
                .containsExactly(new Finding(
                        Reason.NAMESPACE_REFUSES_HOST_PATH,
                        "Namespace ns has the label pod-security.kubernetes.io/enforce=baseline, which admits no pod with a"
                                + " hostPath volume, and so no storage node with its socket in /run/kvpool/ns.demo. Set the"
                                + " label to privileged, or remove socketDirectory from TransferEngine demo."));
    }

    @Test
    void pathsOfSocketsHaveABound() {
        String longest = "/" + "d".repeat(76); // "/ns.demo" behind it makes 85
        assertThat(problems(withSockets(longest))).isEmpty();
        assertThat(problems(withSockets(longest + "d")))
                .containsExactly(new Finding(
                        Reason.SOCKET_PATH_TOO_LONG,
                        ("The sockets of this pool's storage nodes would be in %sd/ns.demo. That path has 86 bytes, but at most 85"
                                                + " are possible.")
                                        .formatted(longest)
                                + " Choose a shorter socketDirectory in TransferEngine demo, or remove it."));
    }

    @Test
    void theNetworkOfNodesNeedsANamespaceThatAdmitsIt() {
        assertThat(problems(withEngine("{hostNetwork: true, ports: {count: 2}}").podSecurity("privileged")))
                .isEmpty();
        assertThat(problems(withEngine("{hostNetwork: true, ports: {count: 2}}").podSecurity("baseline")))
                .containsExactly(new Finding(
                        Reason.NAMESPACE_REFUSES_HOST_NETWORK,
                        "Namespace ns has the label pod-security.kubernetes.io/enforce=baseline, which admits no pod with"
                                + " hostNetwork, and so no storage node. Set the label to privileged, or remove hostNetwork from"
                                + " TransferEngine demo."));
    }

    @Test
    void agentsOnTheNetworkOfNodesAreRefusedForBoth() {
        assertThat(problems(withEngine("{hostNetwork: true, ports: {count: 4}, agents: {}}")
                        .podSecurity("restricted")))
                .extracting(Finding::reason)
                .containsExactly(Reason.NAMESPACE_REFUSES_HOST_PATH, Reason.NAMESPACE_REFUSES_HOST_NETWORK);
    }

    @Test
    void devicesNeedANamespaceThatLetsPodsLockMemory() {
        Map.of(
                        "{protocols: [ascend, tcp], accelerator: {chip: A2}}",
                        List.of("an accelerator", "accelerator"),
                        "{protocols: [ucx, tcp], rdma: {resourceName: rdma/hca}}",
                        List.of("an RDMA card", "rdma"))
                .forEach((engine, words) -> {
                    assertThat(problems(withEngine(engine).podSecurity("privileged")))
                            .isEmpty();
                    assertThat(problems(withEngine(engine).podSecurity("baseline")))
                            .containsExactly(new Finding(
                                    Reason.NAMESPACE_REFUSES_MEMORY_LOCK,
                                    ("Namespace ns has the label pod-security.kubernetes.io/enforce=baseline, which admits no pod with"
                                                    + " capability IPC_LOCK, by which memory is registered with %s, and so no storage node."
                                                    + " Set the label to privileged, or remove %s from TransferEngine demo.")
                                            .formatted(words.getFirst(), words.getLast())));
                });
    }

    @Test
    void theNamespaceIsAskedForWheneverItMayRefusePods() {
        assertThat(needsTheNamespace(new PoolSketch("{storage: [{name: a, capacity: 1Gi}]}")))
                .isFalse();
        assertThat(needsTheNamespace(withEngine("{}"))).isFalse();
        assertThat(needsTheNamespace(withAgents("{}"))).isTrue();
        assertThat(needsTheNamespace(withSockets("/run/kvpool"))).isTrue();
        assertThat(needsTheNamespace(withEngine("{hostNetwork: true}"))).isTrue();
        assertThat(needsTheNamespace(withEngine("{protocols: [ascend, tcp], accelerator: {chip: A2}}")))
                .isTrue();
        assertThat(needsTheNamespace(withEngine("{protocols: [ucx, tcp], rdma: {resourceName: rdma/hca}}")))
                .isTrue();
        assertThat(needsTheNamespace(new PoolSketch(
                        "{storage: [{name: a, capacity: 1Gi, perNode: {}, volume: {type: hostPath, path: /kv}}]}")))
                .isTrue();
    }

    private static boolean needsTheNamespace(PoolSketch sketch) {
        PoolObservation seen = sketch.observation();
        return NamespaceCheck.isNeeded(seen.pool(), seen.engines());
    }

    private static PoolSketch withSockets(String directory) {
        return withEngine("{socketDirectory: %s}".formatted(directory));
    }

    private static PoolSketch withAgents(String agents) {
        return withEngine("{agents: %s}".formatted(agents));
    }

    private static PoolSketch withEngine(String engine) {
        return new PoolSketch("{transferEngine: demo, storage: [{name: a, capacity: 1Gi}]}").engine(engine);
    }

    @Test
    void aCapacityThatIsNotInWholePagesIsRefused() {
        assertThat(problems(new PoolSketch("{transferEngine: demo, storage: [{name: a, capacity: 1536Mi}]}")
                        .engine("{memory: {hugePages: 1Gi}}")))
                .extracting(Finding::message)
                .containsExactly(
                        "Storage set a has a capacity of 1536Mi, which is not a multiple of the huge page size 1Gi. Round it.");
    }

    private static List<Finding> problems(PoolSketch sketch) {
        return PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS);
    }
}
