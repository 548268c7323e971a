// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.node;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.secure.PoolSecurity;
import dev.kvpool.wire.Verb;
import org.junit.jupiter.api.Test;

/** A route that is not in the table of rights could be asked by no peer where TLS is required. */
class NodeRoutesHaveRightsTest {
    @Test
    void everyRouteIsInTheTable() {
        // Routes are made without asking what they would ask later.
        assertThat(NodeRoutes.of(null, PoolSecurity.off()))
                .isNotEmpty()
                .allSatisfy(route -> assertThat(Verb.ofRoute(route.method(), route.path()))
                        .as("%s %s", route.method(), route.path())
                        .isPresent());
    }
}
