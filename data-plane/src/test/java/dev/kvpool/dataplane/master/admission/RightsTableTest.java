// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.admission;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.GeneratedPage;
import dev.kvpool.dataplane.secure.Rights;
import dev.kvpool.dataplane.secure.TlsCounts;
import dev.kvpool.dataplane.wire.PeerSocket;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.LookupRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.PublishRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveAllRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.TaskQuery;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.identity.name.Principal;
import dev.kvpool.wire.Actor;
import dev.kvpool.wire.Role;
import dev.kvpool.wire.Verb;
import java.io.IOException;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Walks the table of native/schema/rights.txt: what a master admits is what stands there, and the page shows it. AdminAccessTest walks the routes. */
class RightsTableTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Instant END = Instant.parse("2030-01-01T00:00:00Z");

    /** Of actors with a certificate. */
    private static final Map<Actor, String> NAMES = Map.of(
            Actor.READER, "tenant/a/ro/x",
            Actor.WRITER, "tenant/a/rw/x",
            Actor.AGENT, "agent/x",
            Actor.ADMIN, "admin/x",
            Actor.OPERATOR, "operator",
            Actor.MONITOR, "monitor",
            Actor.NODE, "node/x",
            Actor.MASTER, "master/x");

    private static final Map<Verb, List<ClientRequest>> REQUESTS = Map.of(
            Verb.LOOK_UP,
            List.of(new LookupRequest(1, List.of()), new ExistsRequest(1, List.of()), new TaskQuery(1, 1)),
            Verb.WRITE,
            List.of(new PublishRequest(1, List.of()), new RemoveAllRequest(1, false, "")));

    private static PeerAdmission admission(Actor actor) {
        Principal peer = new Principal(PeerName.ofPath(POOL, NAMES.get(actor)), END.toEpochMilli());
        return new PeerAdmission(new FakeAuthentication(peer, FakeAuthentication.credentials(END)), new TlsCounts());
    }

    private static Hello hello(Role role, String name) {
        return new Hello(HandshakeMessage.MAGIC, role, POOL, 7, 0, PeerSocket.VERSIONS, name);
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"ANONYMOUS", "PLAIN"})
    void aMasterAdmitsWhatTheTableSays(Actor actor) {
        for (Verb verb : Verb.values()) {
            assertThat(Rights.allow(PeerName.ofPath(POOL, NAMES.get(actor)), verb))
                    .as("%s of %s", verb, actor)
                    .isEqualTo(verb.isOf(actor));
        }
        PeerAdmission client = admission(actor);
        assertThat(client.objection(hello(Role.CLIENT, "x"), _ -> false).isEmpty())
                .as("a client")
                .isEqualTo(Verb.GREET.isOf(actor));
        if (Verb.GREET.isOf(actor)) {
            REQUESTS.forEach((verb, requests) -> requests.forEach(request ->
                    assertThat(client.mayAsk(request)).as("%s", request).isEqualTo(verb.isOf(actor))));
        }
        assertThat(admission(actor).objection(hello(Role.NODE, "x"), _ -> true).isEmpty())
                .as("the storage node x, which is expected")
                .isEqualTo(Verb.SERVE.isOf(actor));
        assertThat(admission(actor).objection(hello(Role.NODE, "x"), _ -> false).isEmpty())
                .as("a node x")
                .isEqualTo(Verb.SERVE.isOf(actor) || Verb.CONTRIBUTE.isOf(actor));
    }

    @Test
    void thePageHasTheTable() throws IOException {
        StringBuilder page = new StringBuilder("""
                # Rights

                Who may do what where [TLS](../guide/security.md) is required, from `native/schema/rights.txt`, of which masters, storage nodes,
                agents and clients have it. What is not here is refused. `anonymous` is who has shown no certificate, `plain` who has no TLS; `reader` is
                `tenant/TENANT/ro/NAME` and `writer` is `tenant/TENANT/rw/NAME`, each for what is its tenant's. Plain peers, where they are taken, may do
                everything but enrol.

                """);
        page.append("| ");
        for (Actor actor : Actor.values()) {
            page.append("| ").append(actor.name().toLowerCase(Locale.ROOT)).append(' ');
        }
        page.append("|\n|---").append("|---".repeat(Actor.values().length)).append("|\n");
        for (Verb verb : Verb.values()) {
            page.append("| ").append(verb.what()).append(' ');
            for (Actor actor : Actor.values()) {
                page.append(verb.isOf(actor) ? "| + " : "| ");
            }
            page.append("|\n");
        }
        page.append("\n| admin HTTP | routes |\n|---|---|\n");
        for (Verb verb : Verb.values()) {
            String routes = Verb.routes().stream()
                    .filter(route -> verbOf(route) == verb)
                    .sorted()
                    .map(route -> "`" + route + "`")
                    .collect(Collectors.joining(", "));
            if (!routes.isEmpty()) {
                page.append("| ")
                        .append(verb.what())
                        .append(" | ")
                        .append(routes)
                        .append(" |\n");
            }
        }
        GeneratedPage.assertCurrent("rights.md", page.toString());
    }

    private static Verb verbOf(String route) {
        List<String> words = Arrays.asList(route.split(" ", -1));
        return Verb.ofRoute(words.getFirst(), words.getLast()).orElseThrow();
    }
}
