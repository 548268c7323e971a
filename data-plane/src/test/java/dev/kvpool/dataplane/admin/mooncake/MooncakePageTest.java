// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.GeneratedPage;
import dev.kvpool.dataplane.admin.MasterRoutes;
import dev.kvpool.dataplane.http.Route;
import dev.kvpool.dataplane.metrics.MooncakeMetrics;
import dev.kvpool.wire.Actor;
import dev.kvpool.wire.Verb;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page that compares paths and metrics of a master with Mooncake's says what is so. */
class MooncakePageTest {
    private static final Set<String> STANDINGS = Set.of("same", "better", "differs");

    /** A line of mooncake-paths.txt. */
    private record Path(String route, String standing, String note) {
        static Path of(String line) {
            String[] parts = line.split(" \\| ?", -1);
            assertThat(parts).as(line).hasSize(3);
            return new Path(parts[0], parts[1], parts[2]);
        }
    }

    private static List<Path> paths() throws IOException {
        try (InputStream file = MooncakePageTest.class.getResourceAsStream("/mooncake-paths.txt")) {
            return new String(file.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                    .map(Path::of)
                    .toList();
        }
    }

    private static Set<String> names(List<Route> routes) {
        return routes.stream()
                .map(route -> route.method() + " " + route.path())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void eachPathIsThere() throws IOException {
        // Routes are made without asking what they would ask later.
        Set<String> ofTheRoom = names(MooncakeRoutes.of(null, null));
        Set<String> all = names(MasterRoutes.of(null, null));
        all.addAll(ofTheRoom);
        for (Path path : paths()) {
            assertThat(STANDINGS).contains(path.standing());
            assertThat(all).contains(path.route());
            assertThat(path.standing().equals("same") || !path.note().isEmpty())
                    .as(path.route())
                    .isTrue();
        }
        assertThat(paths().stream().map(Path::route)).doesNotHaveDuplicates().containsAll(ofTheRoom);
    }

    @Test
    void whatOnlyScriptsOfMooncakeAskForHasTheRightsOfItsLike() {
        Set<String> names = names(MooncakeRoutes.of(null, null));
        assertThat(names).allSatisfy(name -> assertThat(verb(name)).as(name).isNotNull());
        assertThat(names.stream().filter(name -> verb(name).isOf(Actor.ANONYMOUS)))
                .containsExactly("GET /health");
        assertThat(names.stream().filter(name -> verb(name) == Verb.STEER))
                .containsExactly("POST /api/v1/drain_jobs", "POST /api/v1/drain_jobs/cancel");
        assertThat(names.stream().filter(name -> verb(name) == Verb.SEE_OBJECTS))
                .containsExactly("GET /batch_query_keys");
        assertThat(names.stream().filter(name -> verb(name) == Verb.METRICS)).containsExactly("GET /metrics/summary");
    }

    private static Verb verb(String name) {
        String[] parts = name.split(" ", 2);
        return Verb.ofRoute(parts[0], parts[1]).orElse(null);
    }

    @Test
    void thePageIsCurrent() throws IOException {
        StringBuilder text = new StringBuilder("""
                # Mooncake's admin HTTP and metrics, name by name

                What a master answers to scripts, probes and dashboards that were made for Mooncake's, on the same port (9003). Generated; a test fails
                when this page is stale, when a path is not there, or when a metric does not have the value of what it reads. Where
                [TLS is required](../guide/security.md#mutual-tls) the plain port has `/health`, `/metrics` and `/metrics/summary`, and the rest needs a
                certificate or a token with the right in the second column.

                For all paths: a mistake is answered with its cause and a remedy, in JSON where Mooncake answers JSON: `success`, `error_code`,
                `error_message`. A parameter that stands twice and bytes that are not UTF-8 are refused (400). A segment is a storage node, by its id. What
                only the leader knows a standby refuses (503, `-1011`) and names the leader.

                ## Paths

                | path | right | here | |
                |---|---|---|---|
                """);
        for (Path path : paths()) {
            text.append("| `%s` | %s | %s | %s |\n"
                    .formatted(
                            path.route(),
                            verb(path.route()).name().toLowerCase(Locale.ROOT).replace('_', ' '),
                            path.standing(),
                            path.note()));
        }
        text.append("""

                ## Metrics

                Served by masters beside [kvpool's own names](metrics-master.md), which have more reasons and which alerts and the dashboard of the chart use;
                the last ones by clients and [storage nodes](metrics-node.md). *Of keys* means: every request of a client is a batch, and each key of it counts
                here, where Mooncake counts requests and has names with `batch_`.

                | name | type | here | reads | |
                |---|---|---|---|---|
                """);
        for (MooncakeMetrics.Row row : MooncakeMetrics.ROWS) {
            String names =
                    Stream.of(row.name().split(", ", -1)).map("`%s`"::formatted).collect(Collectors.joining(", "));
            text.append("| %s | %s | %s | %s | %s |\n"
                    .formatted(
                            names,
                            row.type(),
                            row.standing().name().toLowerCase(Locale.ROOT),
                            row.reads(),
                            row.note()));
        }
        GeneratedPage.assertCurrent("mooncake-http.md", text.toString());
    }
}
