// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.admin.mooncake.MooncakeRoutes;
import dev.kvpool.wire.Verb;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A route that is not in the table of rights could be asked by no peer where TLS is required. */
class MasterRoutesHaveRightsTest {
    @Test
    void everyRouteIsInTheTable() {
        // Routes are made without asking what they would ask later.
        assertThat(Stream.concat(MasterRoutes.of(null, null).stream(), MooncakeRoutes.of(null, null).stream()))
                .isNotEmpty()
                .allSatisfy(route -> assertThat(Verb.ofRoute(route.method(), route.path()))
                        .as("%s %s", route.method(), route.path())
                        .isPresent());
    }
}
