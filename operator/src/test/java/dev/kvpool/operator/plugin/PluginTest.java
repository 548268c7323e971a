// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.operator.apiserver.ApiServer;
import dev.kvpool.operator.apiserver.ClusterActor;
import dev.kvpool.operator.apiserver.OperatorUnderTest;
import dev.kvpool.operator.apiserver.ScriptedMasters;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.cluster.DryRun;
import dev.kvpool.operator.pool.cluster.PoolReader;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.plan.PoolPlanner;
import dev.kvpool.operator.pool.security.RotationTerms;
import dev.kvpool.operator.pool.validate.PoolValidator;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The plugin on a real API server, over a pool that a real operator made and then left alone. */
class PluginTest {
    private static final String NAMESPACE = "plugin";
    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final List<String> NODES = List.of("demo-default-0", "demo-default-1");
    private static final String SPEC = "{storage: [{name: default, capacity: 1Gi, replicas: 2}]}";
    private static final ObjectMapper JSON = new ObjectMapper();

    private static PodPages pods;
    private static OperatorUnderTest operator;
    private static ClusterActor cluster;

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private String typed = "";

    /** The operator is not there while the plugin is used, so that nothing but the plugin changes anything. */
    @BeforeAll
    static void makePool() throws IOException {
        pods = new PodPages();
        operator = OperatorUnderTest.in(NAMESPACE).start();
        cluster = new ClusterActor(operator.client(), NAMESPACE);
        operator.applyPool("demo", SPEC);
        await().atMost(LIMIT)
                .until(() -> operator.pool("demo").getStatus() != null
                        && operator.client()
                                        .apps()
                                        .statefulSets()
                                        .inNamespace(NAMESPACE)
                                        .withName("demo-default")
                                        .get()
                                != null);
        cluster.runPodsOf("demo-master");
        cluster.runPodsOf("demo-default");
        say("demo-master-0", ScriptedMasters.leader("demo-master-0", 4, 5L << 20, NODES));
        say("demo-master-1", ScriptedMasters.standby("demo-master-1", 4));
        cluster.takeLease("demo-master", "demo-master-0", 4);
        renewLease("2026-01-01T00:00:00.000000Z");
        await().atMost(LIMIT).until(() -> operator.pool("demo").getStatus().phase() == PoolPhase.READY);
        await().atMost(LIMIT).until(() -> cluster.isLabelledLeader("demo-master-0"));
        operator.stop();
        operator.client().resource(operatorDeployment()).create();
    }

    @AfterAll
    static void removePool() {
        operator.close();
        pods.close();
    }

    @Test
    void statusShowsAllPoolsOrOne() throws JsonProcessingException {
        assertThat(run("status")).isZero();
        assertThat(out.toString()).contains("POOL", "demo", "Ready", "2/2", "demo-master-0");

        out.getBuffer().setLength(0);
        assertThat(run("status", "demo")).isZero();
        assertThat(out.toString())
                .contains("Pool demo in namespace plugin: Ready")
                .contains("Leader: demo-master-0 in epoch 4")
                .containsPattern("demo-master-1 +standby +4 +0.1.0 +0")
                .containsPattern("demo-default-1 +ready");

        out.getBuffer().setLength(0);
        assertThat(run("status", "demo", "-o", "json")).isZero();
        JsonNode view = JSON.readTree(out.toString());
        assertThat(view.path("masters").path(0).path("says").asText()).isEqualTo("serving");
        assertThat(view.path("nodes")).hasSize(2);

        out.getBuffer().setLength(0);
        assertThat(run("status", "-o", "yaml")).isZero();
        assertThat(out.toString()).contains("pool: \"demo\"");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            ucx    | {protocols: [shm, ucx, tcp]}
            ascend | {protocols: [shm, ascend, tcp], accelerator: {chip: A2}}
            """)
    void statusSaysWhichNodeDoesNotServeTheFabricAndWhy(String fabric, String engine) {
        operator.applyEngine("fast", engine);
        operator.applyPool("demo", SPEC.replace("{storage", "{transferEngine: fast, storage"));
        pods.on(
                "GET demo-default-0:9301/api/v1/node",
                () -> "{\"protocols\": {\"served\": [\"shm\", \"tcp\"], \"problem\": \"there is no library\"}}");
        pods.on(
                "GET demo-default-1:9301/api/v1/node",
                () -> "{\"protocols\": {\"served\": [\"shm\", \"tcp\", \"%s\"], \"problem\": \"\"}}".formatted(fabric));
        try {
            assertThat(run("status", "demo")).as(err.toString()).isZero();
        } finally {
            operator.applyPool("demo", SPEC);
        }

        assertThat(out.toString())
                .contains(
                        "demo-default-0 does not serve %s, its clients use tcp: there is no library".formatted(fabric))
                .doesNotContain("demo-default-1 does not serve");
    }

    @Test
    void statusSaysWhichNodeHasFilesSetAside() {
        pods.on(
                "GET demo-default-0:9301/api/v1/node",
                () -> "{\"setAside\": {\"damaged\": 0, \"foreign\": 0, \"bytes\": 0}}");
        pods.on(
                "GET demo-default-1:9301/api/v1/node",
                () -> "{\"setAside\": {\"damaged\": 2, \"foreign\": 1, \"bytes\": 3221225472}}");

        assertThat(run("status", "demo")).as(err.toString()).isZero();

        assertThat(out.toString())
                .contains("demo-default-1 found 2 damaged and 1 foreign files", "3072 Mi")
                .doesNotContain("demo-default-0 found", "does not serve ucx");
    }

    @Test
    void thePlanIsMadeWithWhatTheOperatorWasInstalledWith() {
        try (Cluster cluster = new Cluster(ApiServer.shared().client(pods), NAMESPACE)) {
            assertThat(cluster.operatorSettings(null).rotation())
                    .isEqualTo(new RotationTerms(
                            Duration.ofDays(60), Duration.ofDays(20), Duration.ofMinutes(90), Duration.ofHours(25)));
        }
    }

    @Test
    void planOfAPoolThatIsAsItShallBeIsEmpty() {
        assertThat(run("plan", "demo")).as(err.toString()).isZero();

        assertThat(out.toString())
                .contains("The operator would change nothing.")
                .contains("Serving", "NoUpgrade", "NoDrain");
    }

    @Test
    void aLeaseThatIsRenewedWhileThePlanIsMadeIsNoChangeOfTheOperator() {
        OperatorSettings settings = new OperatorSettings("kvpool:0.1.0", "0.1.0", "kvpool-system");
        PoolObservation seen = new PoolReader(operator.client(), operator.masters(), InstantSource.system())
                .read(operator.pool("demo"));
        PoolPlan plan = new PoolPlanner(settings).plan(seen, PoolValidator.validate(seen, settings));
        renewLease("2026-01-01T00:00:01.000000Z");

        assertThat(new DryRun(operator.client(), seen).changes(plan.apply())).isEmpty();
    }

    @Test
    void planNamesTheFieldsThatAChangeOfTheSpecWouldChange() throws JsonProcessingException {
        operator.applyPool(
                "demo", "{cache: {objectLease: 20s}, storage: [{name: default, capacity: 1Gi, replicas: 1}]}");
        try {
            assertThat(run("plan", "demo", "-o", "json")).as(err.toString()).isZero();
        } finally {
            operator.applyPool("demo", SPEC);
        }

        JsonNode plan = JSON.readTree(out.toString());
        assertThat(plan.path("steps"))
                .anySatisfy(step -> {
                    assertThat(step.path("does").asText()).isEqualTo("change");
                    assertThat(step.path("to").asText()).isEqualTo("ConfigMap demo-pool");
                    assertThat(step.path("fields").toString()).contains("data.object-lease");
                })
                .noneSatisfy(step -> assertThat(step.path("to").asText()).startsWith("StatefulSet"));
        assertThat(plan.path("because").toString()).contains("WaitsForDrain", "demo-default-1");
    }

    @Test
    void drainAsksTheOperatorAndWaitsUntilTheNodeIsEmptyAndCanBeTakenBack() {
        String uid = uidOf("demo-default-1");
        operator.client()
                .resource(operator.pool("demo"))
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"annotations\":{\"kvpool.dev/drain\":\"demo-default-7=gone\"}}}");
        Thread operates = meanwhile(() -> {
            awaitAnnotation(PoolLabels.DRAIN, "demo-default-1=" + uid);
            stepIs("demo-default-1", "Empty", "UnderWay", ",\"objectsLeft\":7");
            await().atMost(LIMIT).until(() -> out.toString().contains("7 objects"));
            stepIs("demo-default-1", "Empty", "Empty", "");
        });
        try {
            assertThat(run("drain", "demo", "demo-default-1", "--minutes", "1"))
                    .as(err.toString())
                    .isZero();
            assertThat(out.toString())
                    .contains(
                            "demo-default-1 is being emptied, 7 objects have no other place\n",
                            "demo-default-1 is empty\n",
                            "until `kubectl kvpool drain demo demo-default-1 --cancel`");
            assertThat(run("drain", "demo", "demo-default-1")).as("once more").isZero();
        } finally {
            join(operates);
            statusIs("{\"steps\":null}");
        }

        assertThat(run("drain", "demo", "demo-default-1", "--cancel")).isZero();
        assertThat(out.toString()).contains("demo-default-1 takes objects again");
        assertThat(operator.pool("demo").getMetadata().getAnnotations()).doesNotContainKey(PoolLabels.DRAIN);
        assertThat(run("drain", "demo", "demo-default-1", "--cancel")).isEqualTo(1);
        assertThat(err.toString()).contains("no request asks for demo-default-1 of pool demo to be empty");
        assertThat(pods.asked()).noneMatch(asked -> asked.contains("/drain"));
    }

    @Test
    void drainDoesNotTakeAPodForEmptyAsAnEarlierOneWas() {
        Instant made = Instant.parse(operator.client()
                .pods()
                .inNamespace(NAMESPACE)
                .withName("demo-default-1")
                .get()
                .getMetadata()
                .getCreationTimestamp());
        stepIs("demo-default-1", "Empty", "Empty", made.minusSeconds(1), "");
        Thread operates = meanwhile(() -> {
            await().atMost(LIMIT).until(() -> out.toString().contains("the operator has not begun"));
            stepIs("demo-default-1", "Empty", "Empty", "");
        });
        try {
            assertThat(run("drain", "demo", "demo-default-1"))
                    .as(err.toString())
                    .isZero();
        } finally {
            join(operates);
            statusIs("{\"steps\":null}");
        }

        assertThat(out.toString()).startsWith("the operator has not begun\ndemo-default-1 is empty\n");
        assertThat(run("drain", "demo", "demo-default-1", "--cancel")).isZero();
    }

    @Test
    void drainEndsWhenTheRequestIsTakenBackMeanwhile() {
        Thread other = meanwhile(() -> {
            await().atMost(LIMIT).until(() -> out.toString().contains("the operator has not begun"));
            operator.client()
                    .resource(operator.pool("demo"))
                    .patch(
                            PatchContext.of(PatchType.JSON_MERGE),
                            "{\"metadata\":{\"annotations\":{\"kvpool.dev/drain\":null}}}");
        });
        assertThat(run("drain", "demo", "demo-default-1")).isEqualTo(1);
        join(other);

        assertThat(err.toString()).contains("the request was taken back meanwhile");
    }

    @Test
    void nothingIsAskedOfAPoolThatIsPaused() {
        assertThat(run("pause", "demo")).isZero();
        try {
            assertThat(run("drain", "demo", "demo-default-1")).isEqualTo(1);
            assertThat(err.toString())
                    .contains("pool demo is paused: nothing is emptied before `kubectl kvpool resume");
            assertThat(run("failover", "demo")).isEqualTo(1);
            assertThat(err.toString()).contains("nothing is handed over before `kubectl kvpool resume demo`");
        } finally {
            assertThat(run("resume", "demo")).isZero();
        }

        assertThat(operator.pool("demo").getMetadata().getAnnotations())
                .doesNotContainKeys(PoolLabels.DRAIN, PoolLabels.FAILOVER);
    }

    @Test
    void forgetSaysWhatIsLostAndTellsTheLeaderWhenTheIdIsTyped() {
        pods.on("POST demo-master-0:9003/api/v1/forget", () -> "{}");
        typed = "demo-default-1\n";
        int before = pods.asked().size();

        assertThat(runWhile("away", "forget", "demo", "demo-default-1"))
                .as(err.toString())
                .isZero();

        assertThat(err.toString())
                .contains(
                        "demo-default-1 of pool demo is away",
                        "It held 7 objects (3 Mi)",
                        "no storage node in reach has 5")
                .contains("removed or replaced while demo-default-0 was away. No other storage node does");
        assertThat(pods.asked().subList(before, pods.asked().size()))
                .containsExactly("POST demo-master-0:9003/api/v1/forget?node=demo-default-1");
        assertThat(out.toString()).contains("demo-default-1 is forgotten");
    }

    @Test
    void forgetAsksNothingWithYes() {
        pods.on("POST demo-master-0:9003/api/v1/forget", () -> "{}");

        int before = pods.asked().size();
        assertThat(runWhile("set_apart", "forget", "demo", "demo-default-1", "--yes"))
                .as(err.toString())
                .isZero();

        assertThat(pods.asked().subList(before, pods.asked().size()))
                .containsExactly("POST demo-master-0:9003/api/v1/forget?node=demo-default-1");
        assertThat(err.toString()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "yes\n", "demo-default-0\n"})
    void forgetDoesNothingUnlessTheIdIsTyped(String answer) {
        int before = pods.asked().size();
        typed = answer;

        assertThat(runWhile("away", "forget", "demo", "demo-default-1")).isEqualTo(1);

        assertThat(err.toString()).contains("error: nothing was done: the id of the storage node was not typed");
        assertThat(pods.asked()).hasSize(before);
    }

    @ParameterizedTest
    @ValueSource(strings = {"ready", "syncing", "draining", "drained"})
    void forgetRefusesAStorageNodeThatTakesPart(String state) {
        int before = pods.asked().size();

        assertThat(runWhile(state, "forget", "demo", "demo-default-1", "--yes")).isEqualTo(1);

        assertThat(err.toString()).contains("demo-default-1 takes part in pool demo: it is " + state);
        assertThat(pods.asked()).hasSize(before);
    }

    @Test
    void forgetNamesTheNodesThatAreAwayWhenTheIdIsWrong() {
        assertThat(runWhile("away", "forget", "demo", "demo-default-7", "--yes"))
                .isEqualTo(1);

        assertThat(err.toString())
                .contains(
                        "pool demo waits for no storage node demo-default-7; it waits for: demo-default-0, demo-default-1");
    }

    @Test
    void completionNamesPoolsAndTheStorageNodesOfTheOneThatIsNamed() {
        assertThat(run("__complete", "status", "")).isZero();
        assertThat(out.toString()).isEqualTo("demo%n:4%n".formatted());

        out.getBuffer().setLength(0);
        assertThat(run("__complete", "drain", "-n", NAMESPACE, "demo", "demo-d"))
                .isZero();
        assertThat(out.toString()).isEqualTo("demo-default-0%ndemo-default-1%n:4%n".formatted());

        out.getBuffer().setLength(0);
        assertThat(run("__complete", "drain", "demo", "demo-default-0", "")).isZero();
        assertThat(out.toString()).isEqualTo(":4%n".formatted());
    }

    @Test
    void whySaysWhatTheLeaderSaysOfAKey() {
        pods.on("GET demo-master-0:9003/api/v1/key", () -> """
                {"key": "a/b&c", "master": "demo-master-0", "state": "absent", "cause": "evicted", "goneSince": "2026-01-01T12:00:00Z",
                 "replicas": [], "unheard": [], "remembersSince": "2026-01-01T11:00:00Z", "later": 1}""");

        assertThat(run("why", "demo", "a/b&c")).as(err.toString()).isZero();

        assertThat(pods.asked()).contains("GET demo-master-0:9003/api/v1/key?key=a%2Fb%26c");
        assertThat(out.toString())
                .isEqualTo("The key is not in pool demo: it was evicted at 2026-01-01T12:00:00Z to make room.\n");
    }

    @Test
    void whyOfAPoolThatIsNotThereNamesTheOthers() {
        assertThat(run("why", "dmo", "a")).isEqualTo(1);
        assertThat(err.toString()).contains("there is no KvCachePool dmo", "demo");
    }

    @Test
    void restartWritesTheTimeOnThePool() {
        assertThat(run("restart", "demo", "--role", "agents"))
                .as(err.toString())
                .isZero();

        assertThat(operator.pool("demo").getMetadata().getAnnotations().get("kvpool.dev/restart-agent"))
                .satisfies(time -> assertThat(Instant.parse(time)).isBeforeOrEqualTo(Instant.now()));
        assertThat(out.toString()).contains("the agents pods of pool demo made before ", "kubectl kvpool status demo");
        assertThat(run("restart", "demo", "--role", "everything")).isEqualTo(2);
    }

    @Test
    void retryAsksForAnotherTryOfAnUpgradeThatFailed() {
        assertThat(run("retry", "demo")).isEqualTo(1);
        assertThat(err.toString()).contains("pool demo has no upgrade that failed or was refused");

        upgradeIs(
                "{\"image\":\"kvpool:2\",\"from\":\"kvpool:1\",\"phase\":\"Failed\",\"since\":\"2026-01-01T12:00:00Z\"}");
        try {
            assertThat(run("retry", "demo")).as(err.toString()).isZero();
        } finally {
            upgradeIs("null");
        }

        assertThat(operator.pool("demo").getMetadata().getAnnotations().get(PoolLabels.RETRY))
                .satisfies(text -> assertThat(Instant.parse(text)).isBeforeOrEqualTo(Instant.now()));
        assertThat(out.toString()).contains("the upgrade of pool demo to kvpool:2 is tried again");
    }

    private static void upgradeIs(String roll) {
        statusIs("{\"roll\":%s}".formatted(roll));
    }

    private static void stepIs(String of, String kind, String state, String more) {
        stepIs(of, kind, state, Instant.now(), more);
    }

    private static void stepIs(String of, String kind, String state, Instant since, String more) {
        statusIs(
                "{\"steps\":[{\"of\":\"%s\",\"kind\":\"%s\",\"because\":\"Request\",\"state\":\"%s\",\"since\":\"%s\"%s}]}"
                        .formatted(of, kind, state, since.truncatedTo(ChronoUnit.SECONDS), more));
    }

    /** As the operator would write it. */
    private static void statusIs(String fields) {
        operator.client()
                .resource(operator.pool("demo"))
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":%s}".formatted(fields));
    }

    private static Thread meanwhile(Runnable deeds) {
        return Thread.ofPlatform().name("meanwhile").start(deeds);
    }

    private static void join(Thread thread) {
        await().atMost(LIMIT).until(() -> !thread.isAlive());
    }

    private static void awaitAnnotation(String name, String text) {
        await().atMost(LIMIT)
                .until(() -> text.equals(
                        operator.pool("demo").getMetadata().getAnnotations().get(name)));
    }

    private static String uidOf(String pod) {
        return operator.client()
                .pods()
                .inNamespace(NAMESPACE)
                .withName(pod)
                .get()
                .getMetadata()
                .getUid();
    }

    @Test
    void failoverAsksTheOperatorAndWaitsForTheNextLeader() {
        Thread operates = meanwhile(() -> {
            awaitAnnotation(PoolLabels.FAILOVER, "4");
            stepIs("demo-master-0", "HandOver", "UnderWay", "");
            await().atMost(LIMIT).until(() -> out.toString().contains("hands its leadership over"));
            statusIs("{\"steps\":null,\"leader\":{\"pod\":\"demo-master-1\",\"epoch\":5}}");
        });
        try {
            assertThat(run("failover", "demo")).as(err.toString()).isZero();
        } finally {
            join(operates);
            statusIs("{\"steps\":null,\"leader\":{\"pod\":\"demo-master-0\",\"epoch\":4}}");
        }

        assertThat(out.toString()).endsWith("""
                        demo-master-0 hands its leadership over
                        demo-master-1 leads in epoch 5; before, demo-master-0 did in epoch 4
                        """);
        assertThat(pods.asked()).noneMatch(asked -> asked.contains("/handover"));
        assertThat(operator.pool("demo").getMetadata().getAnnotations()).doesNotContainKey(PoolLabels.FAILOVER);
    }

    @Test
    void aLeaderThatLeadsAgainHasNotHandedOver() {
        Thread operates = meanwhile(() -> {
            awaitAnnotation(PoolLabels.FAILOVER, "4");
            statusIs("{\"leader\":{\"pod\":\"demo-master-0\",\"epoch\":5}}");
        });
        try {
            assertThat(run("failover", "demo")).isEqualTo(1);
        } finally {
            join(operates);
            statusIs("{\"leader\":{\"pod\":\"demo-master-0\",\"epoch\":4}}");
        }

        assertThat(err.toString())
                .contains("no other master took the leadership: demo-master-0 leads again, in epoch 5");
        assertThat(operator.pool("demo").getMetadata().getAnnotations()).doesNotContainKey(PoolLabels.FAILOVER);
    }

    @Test
    void whatAnotherUserHasAskedForMeanwhileIsNotTakenBack() {
        Thread other = meanwhile(() -> {
            awaitAnnotation(PoolLabels.FAILOVER, "4");
            failoverIs("\"5\"");
        });
        try {
            assertThat(run("failover", "demo", "--seconds", "2")).isEqualTo(1);
            assertThat(operator.pool("demo").getMetadata().getAnnotations()).containsEntry(PoolLabels.FAILOVER, "5");
        } finally {
            join(other);
            failoverIs("null");
        }
    }

    private static void failoverIs(String json) {
        operator.client()
                .resource(operator.pool("demo"))
                .patch(
                        PatchContext.of(PatchType.JSON_MERGE),
                        "{\"metadata\":{\"annotations\":{\"kvpool.dev/failover\":%s}}}".formatted(json));
    }

    @ParameterizedTest
    @CsvSource({
        "Waiting, no other master serves after 1 s: it waits: storage node demo-default-1 is not ready",
        "Failed, storage node demo-default-1 is not ready",
        "UnderWay, no other master serves after 1 s: demo-master-0 hands its leadership over"
    })
    void aFailoverThatDoesNotHappenIsTakenBackAndSaysWhatItWaitedFor(String state, String said) {
        stepIs("demo-master-0", "HandOver", state, ",\"waitsFor\":\"storage node demo-default-1 is not ready\"");
        try {
            assertThat(run("failover", "demo", "--seconds", "1")).isEqualTo(1);
        } finally {
            statusIs("{\"steps\":null}");
        }

        assertThat(err.toString()).contains(said + "; the request is taken back");
        assertThat(operator.pool("demo").getMetadata().getAnnotations()).doesNotContainKey(PoolLabels.FAILOVER);
    }

    @Test
    void aLeaderIsNotAskedToGoWhenNoOtherCouldFollow() {
        operator.client()
                .pods()
                .inNamespace(NAMESPACE)
                .withName("demo-master-1")
                .subresource("status")
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"conditions\":[]}}");
        try {
            assertThat(run("failover", "demo")).isEqualTo(1);
        } finally {
            cluster.runAgain("demo-master-1");
        }

        assertThat(err.toString()).contains("no other master that is ready to lead; `kubectl kvpool restart demo");
        assertThat(operator.pool("demo").getMetadata().getAnnotations()).doesNotContainKey(PoolLabels.FAILOVER);
    }

    @Test
    void pauseAndResumeChangeOneField() {
        assertThat(run("pause", "demo")).isZero();
        assertThat(operator.pool("demo").getSpec().paused()).isTrue();
        assertThat(run("pause", "demo")).isZero();
        assertThat(run("resume", "demo")).isZero();

        assertThat(operator.pool("demo").getSpec().paused()).isFalse();
        assertThat(operator.pool("demo").getSpec().storage().getFirst().replicas())
                .isEqualTo(2);
        assertThat(out.toString().lines())
                .containsExactly("pool demo is paused", "pool demo is paused already", "pool demo is no longer paused");
    }

    @Test
    void reportHoldsWhatHelpsAndNoSecrets() throws IOException {
        pods.on("GET demo-master-0:9003/metrics", () -> "kvpool_master_epoch 4.0\npassword=hunter2\n");
        Path file = folder.resolve("report.zip");

        assertThat(run("report", "demo", "--file", file.toString(), "--log-lines", "0"))
                .as(err.toString())
                .isZero();

        try (ZipFile zip = new ZipFile(file.toFile())) {
            assertThat(zip.stream().map(entry -> entry.getName()))
                    .contains(
                            "status.txt",
                            "plan.txt",
                            "pool.yaml",
                            "objects.yaml",
                            "pods.yaml",
                            "events.yaml",
                            "says/demo-master-0.json",
                            "metrics/demo-default-0.txt");
            assertThat(text(zip, "metrics/demo-master-0.txt"))
                    .isEqualTo("kvpool_master_epoch 4.0\npassword=REDACTED\n");
            assertThat(text(zip, "metrics/demo-default-0.txt")).startsWith("not to be had: ");
            assertThat(text(zip, "objects.yaml"))
                    .contains("kind: \"StatefulSet\"")
                    .doesNotContain("managedFields");
            assertThat(text(zip, "plan.txt")).contains("The operator would change nothing.");
        }
        assertThat(run("report", "demo", "--file", file.toString())).isEqualTo(1);
        assertThat(err.toString()).contains("report.zip exists already");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "status none                     | there is no KvCachePool none in namespace plugin; there are: demo",
                "drain demo other                | no storage node other; it has: demo-default-0, demo-default-1",
                "drain demo demo-default-0 --minutes 0 | --minutes must be 1 to 1440, not 0",
                "drain demo other --cancel       | no request asks for other of pool demo to be empty",
                "failover demo --seconds 0       | --seconds must be 1 to 86400, not 0",
                "report demo --log-lines -1      | --log-lines must be 0 to 100000, not -1",
                "plan demo --operator-namespace default | there is no kvpool operator in namespace default",
            })
    void whatCannotBeDoneIsSaidWithTheRemedy(String arguments, String said) {
        assertThat(run(arguments.split(" "))).isEqualTo(1);

        assertThat(err.toString()).startsWith("error: ").contains(said);
    }

    @ParameterizedTest
    @ValueSource(strings = {"status", "plan", "drain", "forget", "failover", "pause", "resume", "report"})
    void everyCommandExplainsItselfAndRefusesWhatItDoesNotKnow(String command) {
        assertThat(run(command, "--help")).isZero();
        assertThat(out.toString())
                .contains("Usage: kubectl kvpool " + command, "--namespace", "--context", "Exit codes:");
        assertThat(run(command, "demo", "demo-default-0", "--no-such-option")).isEqualTo(2);
        assertThat(err.toString()).contains("--no-such-option", "Usage: kubectl kvpool " + command);
    }

    @Test
    void withoutACommandItSaysWhichThereAre() {
        assertThat(run()).isZero();
        assertThat(out.toString())
                .contains("status", "plan", "drain", "forget", "failover", "pause", "resume", "report");
        assertThat(run("destroy")).isEqualTo(2);
    }

    /** The same while the leader says this of demo-default-1, which alone knows what demo-default-0 has missed. */
    private int runWhile(String state, String... arguments) {
        PoolReport usual = ScriptedMasters.leader("demo-master-0", 4, 5L << 20, NODES);
        PoolReport.Node other = Reports.node("demo-default-1", state)
                .with("usedBytes", 3L << 20)
                .with("objects", 7L)
                .build();
        say(
                "demo-master-0",
                Reports.missing(
                        5,
                        5,
                        Reports.behind(
                                List.of("demo-default-1"),
                                List.of("demo-default-0"),
                                ScriptedMasters.leading(
                                        "demo-master-0",
                                        4,
                                        List.of(usual.nodes().getFirst(), other)))));
        try {
            return run(arguments);
        } finally {
            say("demo-master-0", usual);
        }
    }

    private int run(String... arguments) {
        return new KubectlKvpool(
                        options -> new Cluster(ApiServer.shared().client(pods), NAMESPACE), new StringReader(typed))
                .run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
    }

    /** Times are what plain JSON cannot write. */
    private static void renewLease(String when) {
        operator.client()
                .leases()
                .inNamespace(NAMESPACE)
                .withName("demo-master")
                .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"spec\":{\"renewTime\":\"%s\"}}".formatted(when));
    }

    /** To the operator and to the plugin. */
    private static void say(String pod, PoolReport report) {
        operator.masters().say(pod, report);
        pods.on("GET " + pod + ":9003/api/v1/pool", () -> {
            try {
                return JSON.writeValueAsString(report);
            } catch (JsonProcessingException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    private static String text(ZipFile zip, String name) throws IOException {
        return new String(
                zip.getInputStream(zip.getEntry(name)).readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    }

    private static final Map<String, String> ENVIRONMENT = Map.of(
            "KVPOOL_IMAGE", "kvpool:0.1.0",
            "KVPOOL_VERSION", "0.1.0",
            "KVPOOL_DRAIN_TAINTS", "",
            "KVPOOL_PLATFORM_USER", "false",
            "KVPOOL_ROLLOUT_POOLS", "1",
            "KVPOOL_ROLLOUT_STORAGE_VOLUMES", "false",
            "KVPOOL_AUTHORITIES_LIFE", "60d",
            "KVPOOL_AUTHORITIES_RENEW_BEFORE", "20d",
            "KVPOOL_AUTHORITIES_CLIENT_WAIT", "90m",
            "KVPOOL_AUTHORITIES_KEEP_PREVIOUS", "25h");

    private static io.fabric8.kubernetes.api.model.apps.Deployment operatorDeployment() {
        Map<String, String> labels =
                Map.of("app.kubernetes.io/part-of", "kvpool", "app.kubernetes.io/component", "operator");
        return new DeploymentBuilder()
                .withNewMetadata()
                .withName("kvpool")
                .withNamespace(NAMESPACE)
                .withLabels(labels)
                .endMetadata()
                .withNewSpec()
                .withNewSelector()
                .withMatchLabels(labels)
                .endSelector()
                .withNewTemplate()
                .withNewMetadata()
                .withLabels(labels)
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName("operator")
                .withImage("kvpool-operator:0.1.0")
                .withEnv(ENVIRONMENT.entrySet().stream()
                        .map(variable -> new EnvVar(variable.getKey(), variable.getValue(), null))
                        .toList())
                .endContainer()
                .endSpec()
                .endTemplate()
                .endSpec()
                .build();
    }
}
