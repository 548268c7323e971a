// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.http.Caller;
import dev.kvpool.dataplane.http.NotPermittedException;
import dev.kvpool.dataplane.http.Request;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.identity.name.PeerName;
import java.net.InetAddress;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class AnswersTest {
    private static Request request(String peer, Map<String, String> query) {
        Optional<PeerName> name =
                Optional.of(peer).filter(path -> !path.isEmpty()).map(path -> PeerName.ofPath(new UUID(1, 1), path));
        return new Request(
                query, Optional.empty(), new Caller(name, "", InetAddress.ofLiteral("127.0.0.1")), bytesMax -> "");
    }

    @Test
    void aTenantAsksForItsOwnObjects() {
        Request asked = request("tenant/one/ro/a", Map.of());

        assertThat(Answers.named(asked)).contains(Tenant.of("one"));
        assertThat(Answers.qualified(asked, "k")).isEqualTo(Tenant.of("one").qualify(Key.of("k")));
        assertThat(Answers.named(request("tenant/one/rw/a", Map.of("tenant", "one"))))
                .contains(Tenant.of("one"));
        assertThat(Answers.named(request("tenant/default/rw/a", Map.of()))).contains(Tenant.DEFAULT);
    }

    @Test
    void aTenantMayNotNameAnother() {
        assertThatThrownBy(() -> Answers.named(request("tenant/one/rw/a", Map.of("tenant", "two"))))
                .isInstanceOf(NotPermittedException.class)
                .hasMessage("a certificate of tenant one is good for that tenant only; leave tenant=two out");
        assertThatThrownBy(() -> Answers.named(request("tenant/one/rw/a", Map.of("tenant", "default"))))
                .isInstanceOf(NotPermittedException.class);
        assertThatThrownBy(() -> Answers.named(request("tenant/one/rw/a", Map.of("tenant_id", "two")), "tenant_id"))
                .isInstanceOf(NotPermittedException.class)
                .hasMessageEndingWith("leave tenant_id=two out");
    }

    @Test
    void othersAskForTheTenantThatTheyName() {
        for (String peer : new String[] {"admin/a", ""}) {
            assertThat(Answers.named(request(peer, Map.of("tenant", "two")))).contains(Tenant.of("two"));
            assertThat(Answers.named(request(peer, Map.of()))).isEmpty();
            assertThat(Answers.tenant(request(peer, Map.of()))).isEqualTo(Tenant.DEFAULT);
        }
    }
}
