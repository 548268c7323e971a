// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.apiserver.ApiServer;
import dev.kvpool.operator.apiserver.ClusterActor;
import dev.kvpool.operator.apiserver.OperatorUnderTest;
import dev.kvpool.operator.apiserver.ScriptedMasters;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.pool.PlainSpec;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a change of a transfer engine, or of a pool, would do, before it is applied; on a pool that a real operator made. */
class PlanOfAFileTest {
    private static final String NAMESPACE = "plan-of-a-file";
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final List<String> NODES = List.of("demo-a-0", "demo-a-1");
    private static final String SPEC = "{transferEngine: fast, storage: [{name: a, capacity: 1Gi, replicas: 2}]}";
    private static final ObjectMapper JSON = new ObjectMapper();

    private static PodPages pods;
    private static OperatorUnderTest operator;

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @BeforeAll
    static void makePool() throws IOException {
        pods = new PodPages();
        operator = OperatorUnderTest.in(NAMESPACE).start();
        ClusterActor cluster = new ClusterActor(operator.client(), NAMESPACE);
        operator.applyEngine("fast", "{protocols: [shm, tcp]}");
        operator.applyPool("demo", SPEC);
        await().atMost(LIMIT)
                .until(() -> operator.client()
                                .apps()
                                .statefulSets()
                                .inNamespace(NAMESPACE)
                                .withName("demo-a")
                                .get()
                        != null);
        cluster.runPodsOf("demo-master");
        cluster.runPodsOf("demo-a");
        PoolReport leader = ScriptedMasters.leader("demo-master-0", 4, 5L << 20, NODES);
        operator.masters().say("demo-master-0", leader);
        operator.masters().say("demo-master-1", ScriptedMasters.standby("demo-master-1", 4));
        String page = JSON.writeValueAsString(leader);
        pods.on("GET demo-master-0:9003/api/v1/pool", () -> page);
        cluster.takeLease("demo-master", "demo-master-0", 4);
        await().atMost(LIMIT)
                .until(() -> operator.pool("demo").getStatus() != null
                        && operator.pool("demo").getStatus().phase() == PoolPhase.READY);
        operator.stop();
        operator.applyPool("other", "{storage: [{name: a, capacity: 1Gi}]}");
        operator.client().resource(operatorDeployment("false")).create();
    }

    @AfterAll
    static void removePool() {
        // Other tests look for the one operator of the cluster.
        operator.client().resource(operatorDeployment("false")).delete();
        operator.close();
        pods.close();
    }

    @Test
    void anEngineThatIsTheSameChangesNothing() throws IOException {
        assertThat(planOf("--engine", engine("fast", "{protocols: [shm, tcp]}")))
                .as(err.toString())
                .isZero();

        assertThat(out.toString())
                .contains("Pool demo in namespace plan-of-a-file would be")
                .contains("With that file the operator would change nothing of this pool.")
                .doesNotContain("Pool other");
    }

    @Test
    void anEngineNamesThePodsThatGoOnWithEarlierSettings() throws IOException {
        String before = operator.engine("fast").getMetadata().getResourceVersion();

        assertThat(planOf("--engine", engine("fast", "{protocols: [ucx, tcp]}")))
                .as(err.toString())
                .isZero();

        assertThat(out.toString())
                .contains("change StatefulSet demo-a: ")
                .contains("hold back Pod demo-a-0: it goes on with earlier settings, since it would lose what it holds")
                .contains("hold back Pod demo-a-1: ")
                .contains("WouldLoseBytes", "Set spec.onDataLoss to Move")
                .doesNotContain("recreate Pod demo-a");
        assertThat(operator.engine("fast").getMetadata().getResourceVersion()).isEqualTo(before);
    }

    /** Those that are not there yet count too, beside those that are. */
    @Test
    void anEngineOfOneSetChangesThatSetOnly() throws IOException {
        operator.applyPool("mixed", """
                {transferEngine: fast, storage: [{name: a, capacity: 1Gi}, {name: b, capacity: 1Gi, transferEngine: later}]}""");

        assertThat(planOf("--engine", engine("later", "{protocols: [ucx, tcp]}")))
                .as(err.toString())
                .isZero();

        assertThat(out.toString())
                .contains("Pool mixed in namespace plan-of-a-file would be", "StatefulSet mixed-b")
                .doesNotContain("There is no TransferEngine", "Pool demo ");
        operator.client().resource(operator.pool("mixed")).delete();
    }

    @Test
    void anotherOperatorSaysWhichPodsGoOnAsTheEarlierOneMadeThem() throws IOException {
        operator.client().resource(operatorDeployment("true")).update();
        try {
            assertThat(planOf("--engine", engine("fast", "{protocols: [shm, tcp]}")))
                    .as(err.toString())
                    .isZero();
        } finally {
            operator.client().resource(operatorDeployment("false")).update();
        }

        assertThat(out.toString())
                .contains("hold back Pod demo-master-0: it goes on as an earlier operator made it")
                .contains("hold back Pod demo-a-1: it goes on as an earlier operator made it")
                .contains("OfEarlierOperator", "the turn comes to this pool: one pool at a time")
                .contains("kubectl kvpool restart demo --role storage")
                .doesNotContain("change StatefulSet", "recreate", "WouldLoseBytes");
    }

    @Test
    void aPoolNamesThePodsThatAreMadeAnewAndTheStepsAreForProgramsToo() throws IOException {
        String spec = "{onDataLoss: Move, masters: {resources: {limits: {memory: 2Gi}}}, transferEngine: fast,"
                + " storage: [{name: a, capacity: 2Gi, replicas: 2}]}";

        assertThat(planOf("--pool", file("KvCachePool", "demo", spec), "-o", "json"))
                .as(err.toString())
                .isZero();

        JsonNode steps = JSON.readTree(out.toString()).path("steps");
        assertThat(steps.findValuesAsText("to"))
                .contains("StatefulSet demo-master", "StatefulSet demo-a", "Pod demo-master-0", "Pod demo-master-1");
        assertThat(steps)
                .filteredOn(step -> step.path("to").asText().equals("Pod demo-a-1"))
                .extracting(step -> step.path("does").asText() + " " + step.path("fields"))
                .containsExactly("recreate [\"after it has been emptied, one at a time\"]");
        assertThat(operator.pool("demo").getSpec().storage().getFirst().capacity())
                .hasToString("1Gi");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--engine | KvCachePool    | fast  | {storage: [{name: a, capacity: 1Gi}]} | holds a KvCachePool of",
                "--engine | TransferEngine | slow  | {}                   | which any pool of namespace plan-of-a-file does not use; used there: fast, none",
                "--engine | TransferEngine | fast  | {protocols: [smoke]} | would be refused: ",
                "--engine | TransferEngine | fast  | {protocls: [tcp]}    | .spec.protocls: field not declared",
                "--pool   | KvCachePool    | demo  | {storage: [{name: a, capacity: 1Gi, volume: {type: persistentVolumeClaim}}]} | the volume of a set cannot be changed",
            })
    void whatCannotBeAppliedIsRefused(String option, String kind, String name, String spec, String said)
            throws IOException {
        assertThat(planOf(option, file(kind, name, spec))).isEqualTo(1);

        assertThat(err.toString()).startsWith("error: ").contains(said);
    }

    @Test
    void whatIsNoSingleObjectOfThisNamespaceIsRefused() throws IOException {
        Path file = engine("fast", "{}");
        Files.writeString(file, "- a\n- b\n");
        assertThat(planOf("--engine", file)).isEqualTo(1);
        assertThat(err.toString()).contains("does not hold objects in YAML or JSON");

        Files.writeString(file, """
                {"apiVersion": "kvpool.dev/v1alpha1", "kind": "TransferEngine", "metadata": {"name": "fast", "namespace": "x"}}
                """);
        assertThat(planOf("--engine", file)).isEqualTo(1);
        assertThat(err.toString()).contains("is for namespace x");

        assertThat(planOf("--engine", folder.resolve("none.yaml"))).isEqualTo(1);
        assertThat(err.toString()).contains("none.yaml cannot be read");

        assertThat(run("plan")).isEqualTo(1);
        assertThat(err.toString()).contains("name a pool, --engine FILE with or without a pool, or --pool FILE");
    }

    @Test
    void optionsThatWouldDoNothingAreRefused() throws IOException {
        assertThat(planOf(
                        "--pool",
                        file("KvCachePool", "fresh", "{storage: [{name: a, capacity: 1Gi}]}"),
                        "--force-conflicts"))
                .isEqualTo(1);
        assertThat(err.toString()).contains("--field-manager and --force-conflicts need --server-side");

        assertThat(run("plan", "demo", "--server-side")).isEqualTo(1);
        assertThat(err.toString()).contains("--server-side is about a file");
    }

    /** As with kubectl apply of the file; alone the pool would have no engine. */
    @Test
    void aPoolIsPlannedWithTheEnginesOfTheSameFileAndTheOtherWayRound() throws IOException {
        Path file = Files.writeString(folder.resolve("both.yaml"), """
                apiVersion: kvpool.dev/v1alpha1
                kind: TransferEngine
                metadata: {name: fresh}
                spec: {protocols: [tcp]}
                ---
                apiVersion: kvpool.dev/v1alpha1
                kind: KvCachePool
                metadata: {name: fresh}
                spec: {security: {mode: Off}, transferEngine: fresh, storage: [{name: a, capacity: 1Gi}]}
                """);

        for (String option : List.of("--pool", "--engine")) {
            out.getBuffer().setLength(0);
            assertThat(planOf(option, file)).as(err.toString()).isZero();
            assertThat(out.toString())
                    .contains("Pool fresh in namespace plan-of-a-file would be", "create StatefulSet fresh-a")
                    .doesNotContain("TransferEngineMissing");
        }
    }

    /** It may be refused, or be of a pool of which this user knows nothing. */
    @Test
    void ofTheEnginesInTheFileOfAPoolThoseCountThatItNames() throws IOException {
        Path file = file("KvCachePool", "fresh", "{storage: [{name: a, capacity: 1Gi}]}");
        Files.writeString(file, Files.readString(file) + """
                ---
                {apiVersion: kvpool.dev/v1alpha1, kind: TransferEngine, metadata: {name: unused}, spec: {protocols: [smoke]}}
                """);

        assertThat(planOf("--pool", file)).as(err.toString()).isZero();
    }

    @Test
    void allEnginesOfAFileArePlannedTogether() throws IOException {
        Path file = engine("fast", "{protocols: [ucx, tcp]}");
        Files.writeString(file, Files.readString(file) + """
                ---
                {apiVersion: kvpool.dev/v1alpha1, kind: TransferEngine, metadata: {name: slow}, spec: {protocols: [tcp]}}
                """);

        assertThat(planOf("--engine", file)).as(err.toString()).isZero();
        assertThat(out.toString()).contains("Pool demo in namespace plan-of-a-file would be");
    }

    @Test
    void aFileMayComeFromAnotherCommand() throws IOException {
        String text =
                Files.readString(file("KvCachePool", "demo", "{paused: true, storage: [{name: a, capacity: 1Gi}]}"));

        int code = new KubectlKvpool(
                        options -> new Cluster(ApiServer.shared().client(pods), NAMESPACE), new StringReader(text))
                .run(
                        new PrintWriter(out, true),
                        new PrintWriter(err, true),
                        "plan",
                        "--operator-namespace",
                        NAMESPACE,
                        "--pool",
                        "-");

        assertThat(code).as(err.toString()).isZero();
        assertThat(out.toString()).contains("Pool demo in namespace plan-of-a-file would be");
    }

    /** The role edit of one namespace says nothing of the operator's. */
    @Test
    void whoMayNotSeeTheOperatorIsToldWhatAPlanNeeds() {
        int code = new KubectlKvpool(
                        options -> new Cluster(ApiServer.shared().editorClient(), NAMESPACE), Reader.nullReader())
                .run(new PrintWriter(out, true), new PrintWriter(err, true), "plan", "demo");

        assertThat(code).isEqualTo(1);
        assertThat(err.toString())
                .startsWith("error: a plan is made with the settings of the operator's Deployment")
                .contains("name the operator's namespace with --operator-namespace");
    }

    @Test
    void aPoolThatDoesNotUseTheEngineIsNamed() throws IOException {
        assertThat(run(
                        "plan",
                        "other",
                        "--operator-namespace",
                        NAMESPACE,
                        "--engine",
                        engine("fast", "{protocols: [shm, tcp]}").toString()))
                .isEqualTo(1);

        assertThat(err.toString()).contains("which pool other does not use; used there: none");
    }

    private Path engine(String name, String spec) throws IOException {
        return file("TransferEngine", name, spec);
    }

    private Path file(String kind, String name, String spec) throws IOException {
        return Files.writeString(folder.resolve("file.yaml"), """
                apiVersion: kvpool.dev/v1alpha1
                kind: %s
                metadata: {name: %s}
                spec: %s
                """.formatted(
                        kind, name, kind.equals("KvCachePool") ? PlainSpec.of(spec) : spec));
    }

    private int planOf(String option, Path file, String... more) {
        List<String> arguments =
                new ArrayList<>(List.of("plan", option, file.toString(), "--operator-namespace", NAMESPACE));
        arguments.addAll(List.of(more));
        return run(arguments.toArray(String[]::new));
    }

    private int run(String... arguments) {
        return new KubectlKvpool(
                        options -> new Cluster(ApiServer.shared().client(pods), NAMESPACE), Reader.nullReader())
                .run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }

    private static Deployment operatorDeployment(String platformUser) {
        return operator.client()
                .getKubernetesSerialization()
                .unmarshal("""
                apiVersion: apps/v1
                kind: Deployment
                metadata:
                  name: kvpool
                  namespace: %s
                  labels: &labels {app.kubernetes.io/part-of: kvpool, app.kubernetes.io/component: operator}
                spec:
                  selector: {matchLabels: *labels}
                  template:
                    metadata: {labels: *labels}
                    spec:
                      containers:
                        - name: operator
                          image: kvpool-operator:0.1.0
                          env: [{name: KVPOOL_IMAGE, value: "kvpool:0.1.0"}, {name: KVPOOL_VERSION, value: "0.1.0"}, {name: KVPOOL_DRAIN_TAINTS, value: other}, {name: KVPOOL_PLATFORM_USER, value: "%s"}, {name: KVPOOL_ROLLOUT_POOLS, value: "1"}, {name: KVPOOL_ROLLOUT_STORAGE_VOLUMES, value: "false"},
                                {name: KVPOOL_AUTHORITIES_LIFE, value: 365d}, {name: KVPOOL_AUTHORITIES_RENEW_BEFORE, value: 30d}, {name: KVPOOL_AUTHORITIES_CLIENT_WAIT, value: 24h}, {name: KVPOOL_AUTHORITIES_KEEP_PREVIOUS, value: 25h}]
                """.formatted(NAMESPACE, platformUser), Deployment.class);
    }
}
