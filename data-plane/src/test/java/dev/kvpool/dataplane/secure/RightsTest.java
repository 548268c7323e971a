// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.identity.name.PeerName;
import java.util.EnumMap;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RightsTest {
    private static final UUID POOL = new UUID(1, 1);

    /** In the order reader, writer, agent, admin, operator, monitor, node, master. */
    private static final String[] NAMES = {
        "tenant/a/ro/x", "tenant/a/rw/x", "agent/x", "admin/x", "operator", "monitor", "node/x", "master/x"
    };

    private static final Map<Verb, String> TABLE = new EnumMap<>(Map.ofEntries(
            Map.entry(Verb.HEALTH, "+ + + + + + + +"),
            Map.entry(Verb.ENROL, "+ + + + + + + +"),
            Map.entry(Verb.METRICS, "- - - + + + - -"),
            Map.entry(Verb.OBSERVE, "- - - + + + - -"),
            Map.entry(Verb.SEE_QUOTAS, "+ + - + + + - -"),
            Map.entry(Verb.SEE_OBJECTS, "+ + - + - - - -"),
            Map.entry(Verb.LIST_KEYS, "- - - + - - - -"),
            Map.entry(Verb.STEER, "- - - + + - - -"),
            Map.entry(Verb.CHANGE_OBJECTS, "- - - + - - - -"),
            Map.entry(Verb.GREET, "+ + + + - - - +"),
            Map.entry(Verb.LOOK_UP, "+ + + + - - - -"),
            Map.entry(Verb.WRITE, "- + + + - - - -"),
            Map.entry(Verb.SERVE, "- - - - - - + -"),
            Map.entry(Verb.CONTRIBUTE, "- + + - - - - -")));

    @ParameterizedTest
    @EnumSource
    void eachRoleMayWhatTheTableSays(Verb verb) {
        assertThat(TABLE).as("a row for each verb").containsKey(verb);
        String[] marks = TABLE.get(verb).split(" ", -1);
        for (int i = 0; i < NAMES.length; i++) {
            assertThat(verb.isAllowed(PeerName.ofPath(POOL, NAMES[i])))
                    .as("%s of %s", verb, NAMES[i])
                    .isEqualTo(marks[i].equals("+"));
        }
    }
}
