// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.failure;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.net.ConnectException;
import org.junit.jupiter.api.Test;

/** What the user who typed a command is told when the API server does not do it. */
class SentencesTest {
    @Test
    void aClusterThatIsNotThere() {
        var e = new KubernetesClientException("Operation failed.", new ConnectException("Connection refused"));

        assertThat(Sentences.of(e))
                .isEqualTo("the cluster cannot be reached (Connection refused); see kubectl cluster-info");
    }

    @Test
    void aClusterThatCannotBeReachedForAReasonWithoutWords() {
        IOException refused = new IOException(null, new IllegalStateException());

        assertThat(Sentences.of(new KubernetesClientException("Operation: [list] failed.", refused)))
                .isEqualTo("the cluster cannot be reached (no connection); see kubectl cluster-info");
    }

    @Test
    void aClusterThatRefuses() {
        assertThat(Sentences.of(new KubernetesClientException("Unauthorized", 401, null)))
                .contains("does not know you");
        assertThat(Sentences.of(new KubernetesClientException("pods is forbidden", 403, null)))
                .isEqualTo("you may not do that: pods is forbidden");
        assertThat(Sentences.of(new KubernetesClientException("nodes \"x\" not found", 404, null)))
                .isEqualTo("nodes \"x\" not found");
    }
}
