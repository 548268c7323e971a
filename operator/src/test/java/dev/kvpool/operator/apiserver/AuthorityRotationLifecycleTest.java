// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.kvpool.operator.event.EventReason;
import dev.kvpool.operator.plugin.KubectlKvpool;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.security.PoolTrust;
import dev.kvpool.operator.pool.security.RotationTerms;
import dev.kvpool.operator.status.ConditionType;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A pool that serves gets its next certificate authority on a real API server, while operators end in each of the states that are stored. */
class AuthorityRotationLifecycleTest {
    private static final String NAMESPACE = "rotated-pools";
    private static final RotationTerms AT_ONCE =
            new RotationTerms(Duration.ofDays(365), Duration.ofDays(30), Duration.ZERO, Duration.ZERO);
    private static final OperatorSettings SETTINGS = new OperatorSettings(
            OperatorUnderTest.SETTINGS.image(),
            OperatorUnderTest.SETTINGS.version(),
            OperatorUnderTest.SETTINGS.namespace(),
            OperatorUnderTest.SETTINGS.serviceAccount(),
            OperatorUnderTest.SETTINGS.drainTaints(),
            false,
            false,
            AT_ONCE,
            OperatorUnderTest.SETTINGS.rollout());

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE);

    @Test
    void theAuthorityIsFollowedByAnotherOneWithoutAStorageRestart() throws InterruptedException {
        OPERATOR.restart(SETTINGS);
        PoolUnderTest pool = OPERATOR.make("turned", """
                {security: {mode: Required}, masters: {replicas: 2}, storage: [{name: a, replicas: 2, capacity: 1Gi}],
                  tenants: [{name: chat, serviceAccounts: [{namespace: team-a, name: engine}]}]}""");
        await().until(() ->
                map("turned-trust") != null && PoolTrust.of(map("turned-trust")).active());
        pool.ready();
        PoolTrust before = PoolTrust.of(map("turned-trust"));
        Map<String, String> storage = pool.storagePods();
        assertThat(pool.awaitReason(Reason.AUTHORITY_VALID)).contains("valid until", "the next one is made at");

        Thread.sleep(1_100); // the authority was made in this second
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        new KubectlKvpool(options -> new Cluster(ApiServer.shared().client(), NAMESPACE), new StringReader(""))
                .run(new PrintWriter(out), new PrintWriter(err), "rotate-ca", "turned");
        assertThat(err.toString()).isEmpty();
        assertThat(out.toString()).startsWith("pool turned changes to another certificate authority");
        Set<Set<String>> states = new LinkedHashSet<>();
        Set<String> said = new LinkedHashSet<>();
        pool.play(() -> {
            PoolTrust now = PoolTrust.of(map("turned-trust"));
            if (states.add(now.notes().keySet())) {
                OPERATOR.restart();
            }
            if (pool.has(Reason.AUTHORITY_ROTATES)) {
                said.add(pool.message(ConditionType.CERTIFICATES_VALID));
            }
            return !now.rotates() && !now.fingerprint().equals(before.fingerprint());
        });

        PoolTrust after = PoolTrust.of(map("turned-trust"));
        assertThat(after.isIntact()).isTrue();
        assertThat(after.roots()).doesNotContain(before.roots());
        assertThat(map("turned-ca-" + before.fingerprint()))
                .as("the owner of the old key")
                .isNull();
        assertThat(map("turned-ca-" + after.fingerprint())).isNotNull();
        await().untilAsserted(() -> assertThat(map("turned-identity").getData().get("ca.crt"))
                .as("in the round behind that of POOL-trust")
                .isEqualTo(after.roots()));
        assertThat(OPERATOR.client()
                        .secrets()
                        .inNamespace(NAMESPACE)
                        .withName("turned-ca-" + after.fingerprint())
                        .get())
                .isNotNull();
        // A master that is being made again is no reason to wait: it gets the next key.
        pool.play(() -> masters(pool).count() == 2
                && masters(pool).allMatch(pod -> authority(pod).equals(after.fingerprint())));
        assertThat(pool.storagePods()).as("no storage pod was made again").isEqualTo(storage);
        assertThat(states.size())
                .as("states in which an operator ended: %s", states)
                .isGreaterThanOrEqualTo(3);
        assertThat(said).anyMatch(sentence -> sentence.contains("Copies of ConfigMap turned-identity in team-a need"));
        pool.awaitReason(Reason.AUTHORITY_VALID);
        await().until(() -> !pool.notes(EventReason.AUTHORITY_ROTATION_STARTED).isEmpty()
                && !pool.notes(EventReason.AUTHORITY_ROTATION_FINISHED).isEmpty());
    }

    private static Stream<Pod> masters(PoolUnderTest pool) {
        return pool.pods().stream()
                .filter(pod ->
                        pod.getMetadata().getLabels().get(PoolLabels.ROLE).equals("master"));
    }

    private static String authority(Pod pod) {
        return pod.getMetadata().getAnnotations().get(PoolLabels.AUTHORITY);
    }

    private static ConfigMap map(String name) {
        return OPERATOR.client()
                .configMaps()
                .inNamespace(NAMESPACE)
                .withName(name)
                .get();
    }
}
