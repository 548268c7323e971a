// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What leaves the house with a support bundle, and what does not. */
class RedactionTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "Authorization: Bearer abcdef0123456789 sent | Authorization: Bearer REDACTED sent",
                "password=hunter2, user=x | password=REDACTED, user=x",
                "{\"token\": \"abc\", \"epoch\": 7} | {\"token\": \"REDACTED\", \"epoch\": 7}",
                "API_KEY: abc | API_KEY: REDACTED",
                "pull from https://me:pass@registry.example/x | pull from https://REDACTED@registry.example/x",
                "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln is one | REDACTED is one",
                "wrong checksum of key 'user-17 asked what?' | wrong checksum of key REDACTED",
                "kvpool_master_epoch 7.0 | kvpool_master_epoch 7.0",
                "put of 12 objects, leader demo-master-0_0123456789abcdef | put of 12 objects, leader demo-master-0_0123456789abcdef",
            })
    void text(String said, String kept) {
        assertThat(Redaction.text(said)).isEqualTo(kept);
    }

    @Test
    void privateKeysGoAlsoWhenTheyAreCutOff() {
        String key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n";

        assertThat(Redaction.text("a\n" + key + "-----END RSA PRIVATE KEY-----\nb"))
                .isEqualTo("a\nREDACTED\nb");
        assertThat(Redaction.text("a\n" + key)).isEqualTo("a\nREDACTED");
    }

    @Test
    void objectsKeepWhatKvpoolSetsAndLoseWhatOthersDid() {
        var pod = new PodBuilder()
                .withNewMetadata()
                .withName("demo-master-0")
                .withAnnotations(Map.of("kubectl.kubernetes.io/last-applied-configuration", "{all of it}"))
                .addNewManagedField()
                .withManager("somebody")
                .endManagedField()
                .endMetadata()
                .withNewSpec()
                .addNewContainer()
                .withName("master")
                .addNewEnv()
                .withName("POD_NAME")
                .withValue("demo-master-0")
                .endEnv()
                .addNewEnv()
                .withName("HF_HUB")
                .withValue("hf_abcdef")
                .endEnv()
                .endContainer()
                .endSpec()
                .build();

        String text = Redaction.yaml(List.of(pod));

        assertThat(text).contains("demo-master-0", "HF_HUB", "REDACTED");
        assertThat(text).doesNotContain("hf_abcdef", "{all of it}", "somebody");
    }

    @Test
    void aSecretIsLeftOutWhoeverPutItThere() {
        var secret = new SecretBuilder()
                .withNewMetadata()
                .withName("demo")
                .endMetadata()
                .withData(Map.of("a", "aHVudGVyMg=="))
                .build();

        assertThat(Redaction.yaml(List.of(secret))).isEmpty();
    }
}
