// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.prepare;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.KvCachePool;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What the operator's client finds while the operator rehearses its start. */
class EchoingApiTest {
    private static EchoingApi api;
    private static KubernetesClient client;

    @BeforeAll
    static void start() throws IOException {
        api = EchoingApi.start("127.0.0.1");
        client = new KubernetesClientBuilder()
                .withConfig(new ConfigBuilder()
                        .withAutoConfigure(false)
                        .withMasterUrl(api.url())
                        .withTrustCerts(true)
                        .withNamespace("default")
                        .build())
                .build();
    }

    @AfterAll
    static void stop() {
        client.close();
    }

    @Test
    void thereIsOnePoolAndNothingElse() {
        assertThat(client.resources(KvCachePool.class).inAnyNamespace().list().getItems())
                .singleElement()
                .satisfies(pool -> {
                    assertThat(pool.getSpec().storage()).hasSize(1);
                    assertThat(pool.getStatus()).isNull();
                });
        assertThat(client.configMaps().inNamespace("default").list().getItems()).isEmpty();
        assertThat(client.configMaps().inNamespace("default").withName("any").get())
                .isNull();
        assertThat(client.namespaces().withName("default").get()).isNull();
        assertThat(client.getKubernetesVersion().getMajor()).isEqualTo("1");
    }

    @Test
    void whatIsSentComesBackAsIfStored() {
        ConfigMap sent = new ConfigMapBuilder()
                .withNewMetadata()
                .withName("some")
                .withNamespace("default")
                .endMetadata()
                .withData(Map.of("a", "b"))
                .build();

        ConfigMap applied = client.resource(sent).fieldManager("x").serverSideApply();
        ConfigMap created = client.resource(sent).create();

        assertThat(applied.getData()).isEqualTo(sent.getData());
        assertThat(applied.getMetadata().getUid()).isNotEmpty();
        assertThat(created).isEqualTo(applied);
    }

    @Test
    void aStatusIsWhatItWaitsFor() throws InterruptedException {
        assertThat(api.hasLedToAStatus(0, TimeUnit.SECONDS)).isFalse();

        KvCachePool pool = client.resources(KvCachePool.class)
                .inAnyNamespace()
                .list()
                .getItems()
                .getFirst();
        client.resource(pool).patchStatus();

        assertThat(api.hasLedToAStatus(10, TimeUnit.SECONDS)).isTrue();
    }
}
