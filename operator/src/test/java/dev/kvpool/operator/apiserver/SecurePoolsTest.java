// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.kvpool.api.v1alpha1.pod.MastersSpec;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.operator.plugin.KubectlKvpool;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.pool.DirectorySpec;
import dev.kvpool.operator.pool.cluster.AuthorityMaker;
import dev.kvpool.operator.pool.cluster.PoolReader;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.security.PoolTrust;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretProjection;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeProjection;
import io.fabric8.kubernetes.api.model.apps.StatefulSet;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.PrintWriter;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The certificate authority of a secure pool on a real API server, by an operator that can read no Secret and may end after each write. */
class SecurePoolsTest {
    private static final String NAMESPACE = "secure-pools";
    private static final String SPEC = "{security: {mode: Required}, storage: [{name: a, capacity: 1Gi}]}";
    private static final String STATE = "kvpool.dev/ca-state";

    @RegisterExtension
    static final OperatorUnderTest OPERATOR = OperatorUnderTest.in(NAMESPACE);

    @Test
    void aSecurePoolHasAnAuthorityBeforeItsPods() {
        PoolUnderTest pool = OPERATOR.make("whole", SPEC);
        await().until(() -> masters("whole") != null);

        PoolTrust trust = PoolTrust.of(configMap("whole"));
        assertThat(trust.active()).isTrue();
        assertThat(trust.isIntact()).isTrue();
        Secret secret = secret("whole", trust);
        assertThat(secret.getImmutable()).isTrue();
        assertThat(secret.getMetadata().getOwnerReferences())
                .singleElement()
                .satisfies(owner -> assertThat(owner.getUid())
                        .isEqualTo(owner("whole", trust).getMetadata().getUid()));
        assertThat(owner("whole", trust).getMetadata().getOwnerReferences())
                .singleElement()
                .satisfies(owner -> assertThat(owner.getUid())
                        .isEqualTo(configMap("whole").getMetadata().getUid()));
        assertThat(entry(secret, "ca.crt")).isEqualTo(trust.roots());
        var certificate = Pem.certificates(trust.roots()).getFirst();
        assertThat(Pem.isPair(certificate, Pem.privateKey(entry(secret, "ca.key"))))
                .isTrue();
        assertThat(CertificateAuthority.poolId(certificate)).isEqualTo(UUID.fromString(pool.uid()));
        assertThat(masters("whole").getSpec().getTemplate().getSpec().getVolumes())
                .flatMap(SecurePoolsTest::keys)
                .containsExactly(secret.getMetadata().getName());
        await().until(() -> pool.has(Reason.AUTHORITY_VALID));
    }

    /** Between the ConfigMap and the Secret: the key is gone, so another one is made. */
    @Test
    void anOperatorThatEndedBeforeItWroteTheKeyMakesAnotherOne() {
        ConfigMap map = configMapOf("lost");
        PoolTrust before = PoolTrust.of(map);
        client().secrets()
                .inNamespace(NAMESPACE)
                .withName("lost-ca-" + before.fingerprint())
                .delete();
        client().resource(with(map, "Pending")).update();

        OPERATOR.restart();

        await().until(() -> {
            PoolTrust now = PoolTrust.of(configMap("lost"));
            return now.active() && !now.fingerprint().equals(before.fingerprint());
        });
        PoolTrust now = PoolTrust.of(configMap("lost"));
        assertThat(now.isIntact()).isTrue();
        assertThat(entry(secret("lost", now), "ca.crt")).isEqualTo(now.roots());
        await().until(() -> masters("lost").getSpec().getTemplate().getSpec().getVolumes().stream()
                .anyMatch(volume -> keys(volume).contains("lost-ca-" + now.fingerprint())));
    }

    /** After the Secret: it is found again, and no other one is made. */
    @Test
    void anOperatorThatEndedAfterItWroteTheKeyGoesOnWithIt() {
        ConfigMap map = configMapOf("kept");
        PoolTrust before = PoolTrust.of(map);
        client().resource(with(map, "Pending")).update();

        OPERATOR.restart();

        await().until(() -> PoolTrust.of(configMap("kept")).active());
        assertThat(PoolTrust.of(configMap("kept")).fingerprint()).isEqualTo(before.fingerprint());
        assertThat(client().secrets().inNamespace(NAMESPACE).list().getItems().stream()
                        .map(secret -> secret.getMetadata().getName())
                        .filter(name -> name.startsWith("kept-ca-")))
                .containsExactly("kept-ca-" + before.fingerprint());
    }

    /** One whose cache is behind, or that no longer leads, takes what is stored for what it is. */
    @ParameterizedTest
    @ValueSource(strings = {"Active", "Pending"})
    void anOperatorThatSawNoAuthorityTakesTheOneThatIsThere(String state) {
        String name = "behind-" + state.toLowerCase(Locale.ROOT);
        ConfigMap map = configMapOf(name);
        PoolTrust before = PoolTrust.of(map);
        OPERATOR.stop();
        try (KubernetesClient restricted = ApiServer.shared().operatorClient()) {
            client().resource(with(map, state)).update();
            PoolObservation seen = new PoolReader(restricted, OPERATOR.masters(), InstantSource.system())
                    .read(OPERATOR.pool(name))
                    .with(List.of());

            AuthorityMaker.Done done = AuthorityMaker.make(seen, restricted, Duration.ofDays(365));

            assertThat(done.failure()).isEmpty();
            assertThat(PoolTrust.among(done.seen().children(), seen.names())).hasValueSatisfying(trust -> {
                assertThat(trust.active()).isTrue();
                assertThat(trust.fingerprint()).isEqualTo(before.fingerprint());
            });
        } finally {
            OPERATOR.restart();
        }
    }

    @Test
    void aConfigMapOfSomebodyElseIsLeftAlone() {
        client().configMaps()
                .inNamespace(NAMESPACE)
                .resource(new ConfigMapBuilder()
                        .withNewMetadata()
                        .withName("taken-trust")
                        .withNamespace(NAMESPACE)
                        .endMetadata()
                        .withData(Map.of("mine", "x"))
                        .build())
                .create();
        PoolUnderTest pool = OPERATOR.make("taken", SPEC);

        await().until(() -> pool.has(Reason.NAME_TAKEN) && pool.has(Reason.AUTHORITY_PENDING));
        assertThat(configMap("taken").getData()).isEqualTo(Map.of("mine", "x"));
        assertThat(masters("taken")).isNull();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            team-a | engine  | ServiceAccount engine is of tenant chat.
            team-b | engine  | ServiceAccount engine is of no tenant and gets no certificate: add {namespace: team-b, name: engine} to spec.tenants.
            team-a | default | ServiceAccount default is of no tenant and gets no certificate: add {namespace: team-a, name: default} to spec.tenants.
            """)
    void thePluginPrintsWhatEnginesNeed(String namespace, String account, String sentence) {
        PoolUnderTest pool = OPERATOR.make("printed", """
                {security: {mode: Permissive}, tenants: [{name: chat, serviceAccounts: [{namespace: team-a, name: engine}]}],
                  storage: [{name: a, capacity: 1Gi}]}""");
        await().until(() -> masters("printed") != null);
        StringWriter out = new StringWriter();

        assertThat(plugin(
                        out,
                        "client-config",
                        "printed",
                        "--engines-namespace",
                        namespace,
                        "--service-account",
                        account))
                .isEmpty();

        List<ConfigMap> maps = client().getKubernetesSerialization().unmarshal(out.toString());
        assertThat(maps)
                .allSatisfy(map -> assertThat(map.getMetadata().getNamespace()).isEqualTo(namespace))
                .extracting(map -> map.getMetadata().getName())
                .containsExactly("printed-client", "printed-identity");
        assertThat(maps)
                .allSatisfy(map ->
                        assertThat(map.getMetadata().getAnnotations()).containsEntry("kvpool.dev/pool-id", pool.uid()));
        assertThat(maps.getFirst().getData()).containsKeys("MOONCAKE_MASTER", "mooncake.json");
        ConfigMap printed = maps.getLast();
        assertThat(printed.getData()).containsOnlyKeys("admins", "audience", "ca.crt");
        assertThat(printed.getData().get("ca.crt"))
                .isEqualTo(PoolTrust.of(configMap("printed")).roots());
        assertThat(printed.getData().get("admins").split(",", -1))
                .hasSize(MastersSpec.REPLICAS_MAX)
                .startsWith("printed-master-0.printed-master.secure-pools.svc:9443");
        assertThat(out.toString())
                .contains(sentence)
                .contains("serviceAccountName: " + account)
                .contains("audience: kvpool.dev/" + pool.uid());
    }

    @Test
    void besideThePoolEnginesNeedNothingButWordsInTheirPods() {
        OPERATOR.make("beside", SPEC);
        await().until(() -> masters("beside") != null);
        StringWriter out = new StringWriter();

        assertThat(plugin(out, "client-config", "beside")).isEmpty();

        assertThat(out.toString().lines()).allMatch(line -> line.startsWith("#"));
        assertThat(out.toString())
                .contains("Each ServiceAccount of the pool's namespace is of tenant default.")
                .contains("nothing is to be applied")
                .contains("configMap: {name: beside-identity}");
        assertThat(client().configMaps()
                        .inNamespace(NAMESPACE)
                        .withName("beside-identity")
                        .get())
                .isNotNull();
    }

    @Test
    void thePluginSaysWhyThereIsNothingToPrint() {
        OPERATOR.make("plain", "{security: {mode: Off}, storage: [{name: a, capacity: 1Gi}]}");
        configMapOf("named");
        StringWriter out = new StringWriter();

        assertThat(plugin(out, "client-config", "plain"))
                .contains("pool plain takes no certificates: its spec.security.mode is Off");
        assertThat(plugin(out, "client-config", "named", "--engines-namespace", "a b"))
                .contains("--engines-namespace must be a name");
        assertThat(plugin(out, "client-config", "named", "--service-account", "x\ny"))
                .contains("--service-account must be a name");
        assertThat(plugin(out, "client-config", "missing")).contains("there is no KvCachePool missing");
        assertThat(out.toString()).isEmpty();
    }

    /** Nothing of an authority is made, and the source stays while pods may have certificates of it. */
    @Test
    void aPoolWhoseCertificatesOthersMakeHasNoAuthority() {
        String spec = """
                {security: {mode: %s, certificates: {source: Directory, ca: %s,
                    masters: {secrets: [{name: foreign-master-0, secretName: one}]},
                    storage: {csi: {driver: csi.example}}}},
                  storage: [{name: a, capacity: 1Gi}], masters: {replicas: 1}}""";
        PoolUnderTest pool = OPERATOR.make("foreign", spec.formatted("Required", DirectorySpec.root()));
        await().until(() -> masters("foreign") != null && pool.has(Reason.CERTIFICATES_OF_DIRECTORIES));

        assertThat(masters("foreign").getSpec().getTemplate().getSpec().getVolumes())
                .flatMap(SecurePoolsTest::keys)
                .containsExactly("one");
        assertThat(client().secrets().inNamespace(NAMESPACE).list().getItems())
                .extracting(secret -> secret.getMetadata().getName())
                .noneMatch(name -> name.startsWith("foreign-ca-"));
        assertThat(client().configMaps().inNamespace(NAMESPACE).list().getItems())
                .extracting(map -> map.getMetadata().getName())
                .filteredOn(name -> name.startsWith("foreign-"))
                .contains("foreign-identity")
                .noneMatch(name -> name.startsWith("foreign-ca-") || name.equals("foreign-trust"));

        StringWriter out = new StringWriter();
        assertThat(plugin(out, "client-config", "foreign"))
                .contains("spec.security.certificates.source is Directory", "spiffe://" + pool.uid() + "/tenant/");
        assertThat(plugin(out, "rotate-ca", "foreign")).contains("has no certificate authority of its own");
        assertThat(out.toString()).isEmpty();

        assertThatThrownBy(() -> pool.apply(SPEC))
                .hasMessageContaining("certificates.source can be changed only while mode is Off");
        pool.apply(spec.formatted("\"Off\"", DirectorySpec.root()));
        pool.apply(SPEC);
        await().until(() -> pool.has(Reason.AUTHORITY_VALID));
        ConfigMap trust = configMap("foreign");
        assertThat(trust).isNotNull();

        pool.apply(SPEC.replace("Required", "\"Off\""));
        pool.apply(spec.formatted("Required", DirectorySpec.root()));
        await().until(() -> pool.has(Reason.CERTIFICATES_OF_DIRECTORIES));
        assertThat(configMap("foreign")).as("no master serves with others").isNotNull();
        pool.play(() -> configMap("foreign") == null); // and Kubernetes deletes the keys with it
        assertThat(client().configMaps().inNamespace(NAMESPACE).list().getItems())
                .filteredOn(map -> map.getMetadata().getName().startsWith("foreign-ca-"))
                .extracting(
                        map -> map.getMetadata().getOwnerReferences().getFirst().getUid())
                .containsExactly(trust.getMetadata().getUid());
    }

    /** The name in a certificate says the tenant, so masters need to know what each may have and nothing else. */
    @Test
    void tenantsOfAPoolWhoseCertificatesOthersMakeHaveQuotas() {
        String spec = """
                {security: {certificates: {source: Directory, ca: %s,
                    masters: {csi: {driver: csi.example}}, storage: {csi: {driver: csi.example}}}},
                  tenants: [{name: chat, bytes: {ceiling: %s}}],
                  storage: [{name: a, capacity: 1Gi}], masters: {replicas: 1}}""";
        PoolUnderTest pool = OPERATOR.make("quotas", spec.formatted(DirectorySpec.root(), "1Gi"));
        await().until(() -> pool.has(Reason.APPLIED));
        assertThat(quotas("quotas")).contains("tenant-quotas=chat:ceiling=1073741824\n");

        pool.apply(spec.formatted(DirectorySpec.root(), "2Gi"));
        await().until(() -> quotas("quotas").contains("tenant-quotas=chat:ceiling=2147483648\n"));
        assertThat(masters("quotas").getMetadata().getGeneration()).isEqualTo(1);
    }

    /** All processes are told what certificates that name ServiceAccounts stand for; tenants change while they run. */
    @Test
    void certificatesThatNameServiceAccountsAreExplainedToAllProcesses() {
        String spec = """
                {security: {certificates: {source: Directory, trustDomain: %s, ca: %s,
                    masters: {csi: {driver: csi.example}}, storage: {csi: {driver: csi.example}}}},
                  tenants: [{name: chat, serviceAccounts: [{namespace: team-a, name: %s}]}],
                  storage: [{name: a, capacity: 1Gi}], masters: {replicas: 1}}""";
        PoolUnderTest pool = OPERATOR.make("names", spec.formatted("cluster.local", DirectorySpec.root(), "one"));
        await().until(() -> pool.has(Reason.APPLIED));
        assertThat(namesOfOthers())
                .startsWith("pool " + pool.uid() + "\ntrust-domain cluster.local\n")
                .contains("\n" + NAMESPACE + "/names-master master\n", "\n" + NAMESPACE + "/names-storage node\n")
                .contains("\nteam-a/one tenant chat rw\n");
        assertThat(masters("names").getSpec().getTemplate().getSpec().getVolumes())
                .filteredOn(volume -> volume.getConfigMap() != null)
                .extracting(volume -> volume.getConfigMap().getName())
                .contains("names-identity");
        assertThat(plugin(new StringWriter(), "client-config", "names"))
                .contains("spiffe://cluster.local/ns/" + NAMESPACE + "/sa/default", "ConfigMap names-identity");

        pool.apply(spec.formatted("cluster.local", DirectorySpec.root(), "two"));
        await().until(() -> namesOfOthers().contains("\nteam-a/two tenant chat rw\n"));
        assertThat(masters("names").getMetadata().getGeneration()).isEqualTo(1);
        assertThatThrownBy(() -> pool.apply(spec.formatted("example.org", DirectorySpec.root(), "two")))
                .hasMessageContaining("certificates.trustDomain can be changed only while mode is Off");
    }

    private static String namesOfOthers() {
        return client().configMaps()
                .inNamespace(NAMESPACE)
                .withName("names-identity")
                .get()
                .getData()
                .get("names");
    }

    private static String quotas(String pool) {
        return client().configMaps()
                .inNamespace(NAMESPACE)
                .withName(pool + "-pool")
                .get()
                .getData()
                .get("cache-rules");
    }

    /** Certificates are of the id that the processes have, which is not the UID of a pool that took over objects. */
    @Test
    void clientConfigNamesTheIdOfThePoolBefore() {
        String spec = """
                {deletionPolicy: Retain, storage: [{name: a, capacity: 1Gi}], masters: {replicas: 1},
                  security: {certificates: {source: Directory, ca: %s,
                    masters: {csi: {driver: csi.example}}, storage: {csi: {driver: csi.example}}}}}""".formatted(DirectorySpec.root());
        PoolUnderTest pool = OPERATOR.make("adopting", spec);
        await().until(() -> pool.has(Reason.APPLIED));
        String first = pool.uid();
        pool.delete();
        await().until(() -> pool.get() == null);
        pool.apply(spec);
        await().until(() -> pool.has(Reason.APPLIED));

        assertThat(pool.uid()).isNotEqualTo(first);
        assertThat(plugin(new StringWriter(), "client-config", "adopting")).contains("spiffe://" + first + "/tenant/");
    }

    /** What it prints beside its answer. */
    private static String plugin(StringWriter out, String... words) {
        StringWriter err = new StringWriter();
        new KubectlKvpool(options -> new Cluster(ApiServer.shared().client(), NAMESPACE), new StringReader(""))
                .run(new PrintWriter(out), new PrintWriter(err), words);
        return err.toString();
    }

    private static ConfigMap configMapOf(String pool) {
        OPERATOR.make(pool, SPEC);
        await().until(() -> masters(pool) != null);
        return configMap(pool);
    }

    private static ConfigMap with(ConfigMap map, String state) {
        ConfigMap stored = configMap(map.getMetadata().getName().replaceFirst("-trust$", ""));
        stored.getMetadata().getAnnotations().put(STATE, state);
        return stored;
    }

    private static ConfigMap configMap(String pool) {
        return client().configMaps()
                .inNamespace(NAMESPACE)
                .withName(pool + "-trust")
                .get();
    }

    /** Names of the Secrets that a volume projects. */
    private static List<String> keys(Volume volume) {
        return volume.getProjected() == null
                ? List.of()
                : volume.getProjected().getSources().stream()
                        .map(VolumeProjection::getSecret)
                        .filter(Objects::nonNull)
                        .map(SecretProjection::getName)
                        .toList();
    }

    private static ConfigMap owner(String pool, PoolTrust trust) {
        return client().configMaps()
                .inNamespace(NAMESPACE)
                .withName(pool + "-ca-" + trust.fingerprint())
                .get();
    }

    private static Secret secret(String pool, PoolTrust trust) {
        return client().secrets()
                .inNamespace(NAMESPACE)
                .withName(pool + "-ca-" + trust.fingerprint())
                .get();
    }

    private static String entry(Secret secret, String key) {
        return new String(Base64.getDecoder().decode(secret.getData().get(key)), StandardCharsets.US_ASCII);
    }

    private static StatefulSet masters(String pool) {
        return client().apps()
                .statefulSets()
                .inNamespace(NAMESPACE)
                .withName(pool + "-master")
                .get();
    }

    private static KubernetesClient client() {
        return OPERATOR.client();
    }
}
