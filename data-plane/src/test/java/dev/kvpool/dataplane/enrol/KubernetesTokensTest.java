// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kvpool.dataplane.election.RealApiServer;
import dev.kvpool.dataplane.enrol.RefusedTokenException.Reason;
import dev.kvpool.nativelib.Uptime;
import io.fabric8.kubernetes.api.model.NodeBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequest;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Base64;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tokens that a real API server makes, verified by the keys that it tells a ServiceAccount without any role. */
class KubernetesTokensTest {
    private static final String NAMESPACE = "default";
    private static final String AUDIENCE = "kvpool.dev/5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01";

    private static KubernetesClient client;
    private static Pod pod;

    @BeforeAll
    static void makePod() {
        client =
                new KubernetesClientBuilder().withConfig(RealApiServer.config()).build();
        client.resource(new ServiceAccountBuilder()
                        .withNewMetadata()
                        .withName("engine")
                        .withNamespace(NAMESPACE)
                        .endMetadata()
                        .build())
                .create();
        client.resource(new NodeBuilder()
                        .withNewMetadata()
                        .withName("worker-1")
                        .endMetadata()
                        .build())
                .create();
        pod = client.resource(new PodBuilder()
                        .withNewMetadata()
                        .withName("engine-0")
                        .withNamespace(NAMESPACE)
                        .endMetadata()
                        .withNewSpec()
                        .withServiceAccountName("engine")
                        .withNodeName("worker-1")
                        .addNewContainer()
                        .withName("engine")
                        .withImage("none")
                        .endContainer()
                        .endSpec()
                        .build())
                .create();
    }

    @AfterAll
    static void close() {
        client.close();
    }

    /**
     * A token of the ServiceAccount.
     *
     * @param audiences none: the API server's own
     */
    private static String token(boolean ofPod, String... audiences) {
        TokenRequestBuilder request = new TokenRequestBuilder()
                .withNewSpec()
                .withAudiences(audiences)
                .withExpirationSeconds(600L)
                .endSpec();
        if (ofPod) {
            request.editSpec()
                    .withNewBoundObjectRef(
                            "v1", "Pod", "engine-0", pod.getMetadata().getUid())
                    .endSpec();
        }
        TokenRequest made = client.serviceAccounts()
                .inNamespace(NAMESPACE)
                .withName("engine")
                .tokenRequest(request.build());
        return made.getStatus().getToken();
    }

    private static TokenVerifier verifier(Config server) {
        return new TokenVerifier(AUDIENCE, new KubernetesKeys(server), InstantSource.system(), Uptime::ms);
    }

    /** As a master's pod reaches the API server: with a token of its own and nothing else. */
    private static Config asServiceAccount() {
        Config admin = RealApiServer.config();
        return new ConfigBuilder()
                .withAutoConfigure(false)
                .withMasterUrl(admin.getMasterUrl())
                .withCaCertData(admin.getCaCertData())
                .withCaCertFile(admin.getCaCertFile())
                .withTrustCerts(admin.isTrustCerts())
                .withOauthToken(token(false))
                .build();
    }

    @Test
    void aTokenOfAPodSaysItsPodAndNode() throws RefusedTokenException {
        ServiceAccountToken found = verifier(asServiceAccount()).verify(token(true, AUDIENCE));

        assertThat(found.namespace()).isEqualTo(NAMESPACE);
        assertThat(found.serviceAccount()).isEqualTo("engine");
        assertThat(found.pod()).isEqualTo("engine-0");
        assertThat(found.node()).isEqualTo("worker-1");
    }

    @Test
    void aTokenForAnotherServiceIsRefused() {
        TokenVerifier verifier = verifier(asServiceAccount());
        for (String audience : new String[] {"kvpool.dev/other", "https://kubernetes.default.svc.cluster.local"}) {
            assertThat(catchThrowableOfType(RefusedTokenException.class, () -> verifier.verify(token(true, audience)))
                            .reason())
                    .isEqualTo(Reason.AUDIENCE);
        }
    }

    @Test
    void theApiServerSaysWhoItIs() throws IOException {
        String claims = new String(
                Base64.getUrlDecoder().decode(token(true, AUDIENCE).split("\\.", -1)[1]), StandardCharsets.UTF_8);

        String issuer = new KubernetesKeys(asServiceAccount()).issuer().orElseThrow();

        assertThat(claims).contains("\"iss\":\"" + issuer + "\"");
    }

    @Test
    void anApiServerThatRefusesIsNamedWithTheRoleThatHelps() {
        Config stranger =
                new ConfigBuilder(asServiceAccount()).withOauthToken("x").build();

        RefusedTokenException refusal = catchThrowableOfType(
                RefusedTokenException.class, () -> verifier(stranger).verify(token(true, AUDIENCE)));

        assertThat(refusal.reason()).isEqualTo(Reason.KEYS_UNKNOWN);
        assertThat(refusal).hasMessageContainingAll("system:service-account-issuer-discovery", "--token-keys");
    }
}
