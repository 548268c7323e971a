// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.identity.name.PeerName;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RightsTest {
    private static final UUID POOL = new UUID(1, 1);

    /** In the order reader, writer, agent, admin, operator, monitor, node, master. */
    @ParameterizedTest
    @CsvSource({
        "HEALTH, + + + + + + + +",
        "METRICS, - - - + + + - -",
        "OBSERVE, - - - + + + - -",
        "SEE_QUOTAS, + + - + + + - -",
        "SEE_OBJECTS, + + - + - - - -",
        "LIST_KEYS, - - - + - - - -",
        "STEER, - - - + + - - -",
        "CHANGE_OBJECTS, - - - + - - - -",
        "GREET, + + + + - - - +",
        "LOOK_UP, + + + + - - - -",
        "WRITE, - + + + - - - -",
        "SERVE, - - - - - - + -",
        "CONTRIBUTE, - + + - - - - -",
    })
    void eachRoleMayWhatTheTableSays(Verb verb, String allowed) {
        String[] names = {
            "tenant/a/ro/x", "tenant/a/rw/x", "agent/x", "admin/x", "operator", "monitor", "node/x", "master/x"
        };
        String[] marks = allowed.split(" ", -1);
        for (int i = 0; i < names.length; i++) {
            assertThat(verb.isAllowed(PeerName.ofPath(POOL, names[i])))
                    .as("%s of %s", verb, names[i])
                    .isEqualTo(marks[i].equals("+"));
        }
    }
}
