// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.plan;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import dev.kvpool.operator.pool.security.PoolSecurity;
import io.fabric8.kubernetes.api.model.PodBuilder;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SecurityStageTest {
    /** Modes of running masters and of other members by their first letters. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            wanted     | masters | members | next masters | next members
            Off        | -       | -       | OFF          | OFF
            Permissive | -       | -       | PERMISSIVE   | PERMISSIVE
            Required   | -       | -       | REQUIRED     | REQUIRED
            # On: masters first, as members get their certificates of them and dial them.
            Permissive | OO      | OO      | PERMISSIVE   | OFF
            Permissive | PO      | OO      | PERMISSIVE   | OFF
            Permissive | PP      | OO      | PERMISSIVE   | PERMISSIVE
            Permissive | PP      | PP      | PERMISSIVE   | PERMISSIVE
            # At once: Required only when none is left that is plain.
            Required   | OO      | OO      | PERMISSIVE   | OFF
            Required   | PO      | OO      | PERMISSIVE   | OFF
            Required   | PP      | OO      | PERMISSIVE   | PERMISSIVE
            Required   | PP      | PO      | PERMISSIVE   | PERMISSIVE
            Required   | PP      | PP      | REQUIRED     | REQUIRED
            Required   | RP      | PP      | REQUIRED     | REQUIRED
            Required   | RR      | RP      | REQUIRED     | REQUIRED
            # A plain pod that somebody has brought back is not shut out.
            Required   | RR      | RO      | PERMISSIVE   | PERMISSIVE
            # Back: members first, as they dial masters with TLS.
            Permissive | RR      | RR      | PERMISSIVE   | PERMISSIVE
            Off        | RR      | RR      | PERMISSIVE   | PERMISSIVE
            Off        | PR      | RR      | PERMISSIVE   | PERMISSIVE
            Off        | PP      | PR      | PERMISSIVE   | PERMISSIVE
            Off        | PP      | PP      | PERMISSIVE   | OFF
            Off        | PP      | OP      | PERMISSIVE   | OFF
            Off        | PP      | OO      | OFF          | OFF
            Off        | OP      | OO      | OFF          | OFF
            # The other way again, half way.
            Permissive | OP      | OO      | PERMISSIVE   | OFF
            """, useHeadersInDisplayName = true)
    void masterAndMembersArePlainOrSecureSoThatAllCanSpeakWithEachOther(
            String wanted, String masters, String members, String nextMasters, String nextMembers) {
        PoolSketch sketch =
                new PoolSketch("{security: {mode: \"%s\"}, storage: [{name: a, capacity: 1Gi}]}".formatted(wanted));
        pods(masters, PoolLabels.ROLE_MASTER, sketch);
        pods(members, PoolLabels.ROLE_STORAGE, sketch);

        PoolSecurity next = SecurityStage.of(sketch.observation(), PoolSketch.SETTINGS);

        assertThat(List.of(next.masters().name(), next.members().name())).containsExactly(nextMasters, nextMembers);
    }

    private static void pods(String modes, String role, PoolSketch sketch) {
        String all = modes == null ? "" : modes;
        for (int i = 0; i < all.length(); i++) {
            String word = switch (all.charAt(i)) {
                case 'P' -> "permissive";
                case 'R' -> "required";
                default -> "";
            };
            sketch.pod(ObservedPod.of(new PodBuilder()
                    .withNewMetadata()
                    .withName("demo-%s-%d".formatted(role.toLowerCase(Locale.ROOT), i))
                    .withUid("uid-%s-%d".formatted(role, i))
                    .withLabels(Map.of(PoolLabels.ROLE, role))
                    .withAnnotations(word.isEmpty() ? Map.of() : Map.of(PoolLabels.TLS, word))
                    .endMetadata()
                    .build()));
        }
    }
}
