// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PeerNameTest {
    private static final String POOL = "5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01";
    private static final String PREFIX = "spiffe://" + POOL + "/";

    @ParameterizedTest
    @CsvSource({
        "master/demo-master-0, MASTER, demo-master-0, '', WRITE",
        "node/node-0.rack-1, NODE, node-0.rack-1, '', WRITE",
        "agent/worker, AGENT, worker, '', WRITE",
        "operator, OPERATOR, '', '', WRITE",
        "monitor, MONITOR, '', '', WRITE",
        "admin/eve, ADMIN, eve, '', WRITE",
        "tenant/default/rw/vllm, TENANT, vllm, default, WRITE",
        "tenant/team-a/ro/reader.inference, TENANT, reader.inference, team-a, READ",
    })
    void aNameIsReadAndWrittenTheSame(String path, PeerRole role, String name, String tenant, Access access) {
        PeerName read = PeerName.parse(PREFIX + path);

        assertThat(read).isEqualTo(new PeerName(UUID.fromString(POOL), role, name, tenant, access));
        assertThat(read.path()).isEqualTo(path);
        assertThat(read.uri()).isEqualTo(PREFIX + path);
        assertThat(PeerName.ofPath(UUID.fromString(POOL), path)).isEqualTo(read);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "node/",
                "node",
                "node/a/b",
                "node//a",
                "node/a/",
                "/node/a",
                "node/A",
                "node/a_b",
                "node/-a",
                "node/a-",
                "node/a..b",
                "node/.a",
                "node/a.",
                "node/a%2fb",
                "node/a%00",
                "node/a?x=1",
                "node/a#master/b",
                "node/../master/a",
                "node/a\nb",
                "node/a\u0000",
                "node/a b",
                "node/ a",
                "node/\u0430",
                "Node/a",
                "client/a",
                "operator/a",
                "operator/",
                "monitor/a",
                "tenant/default",
                "tenant/default/rw",
                "tenant/default/rw/",
                "tenant//rw/a",
                "tenant/a.b/rw/a",
                "tenant/default/RW/a",
                "tenant/default/w/a",
                "tenant/default/rw/a/b",
                "*",
                "node/*",
            })
    void anythingElseIsRefusedWithWhatANameLooksLike(String path) {
        assertThatThrownBy(() -> PeerName.parse(PREFIX + path))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is no name of kvpool")
                .hasMessageContaining("tenant/TENANT/ro/NAME")
                .message()
                .matches("\\P{Cntrl}*");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "spiffe:",
                "spiffe://",
                "spiffe:///node/a",
                "SPIFFE://" + POOL + "/node/a",
                "https://" + POOL + "/node/a",
                "spiffe://" + POOL,
                "spiffe://" + POOL + ":443/node/a",
                "spiffe://eve@" + POOL + "/node/a",
                "spiffe://" + POOL + "./node/a",
                "spiffe://" + POOL + " /node/a",
                "spiffe://5B0C3A52-7D2C-4F0E-9D0E-2F6F1F6F9A01/node/a",
                "spiffe://00000000-0000-0000-0000-000000000000/node/a",
                "spiffe://5b0c3a527d2c4f0e9d0e2f6f1f6f9a01/node/a",
                "spiffe://1-1-1-1-1/node/a",
                "spiffe://example.org/node/a",
            })
    void aTrustDomainIsAPoolIdInLowerCase(String uri) {
        assertThatThrownBy(() -> PeerName.parse(uri)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void namesHaveBounds() {
        String label = "a".repeat(63);
        String longest = label + "." + label + "." + label + "." + "a".repeat(61);
        assertThat(PeerName.parse(PREFIX + "node/" + longest).name()).hasSize(253);
        assertThat(PeerName.parse(PREFIX + "tenant/" + label + "/rw/" + longest).tenant())
                .hasSize(63);
        for (String path : new String[] {
            "node/" + longest + "a",
            "node/a" + label,
            "tenant/a" + label + "/rw/b",
            "node/" + "a.".repeat(1 << 20),
            "a/".repeat(1 << 20)
        }) {
            assertThatThrownBy(() -> PeerName.parse(PREFIX + path))
                    .isInstanceOf(IllegalArgumentException.class)
                    .message()
                    .hasSizeLessThan(1_000);
        }
    }
}
