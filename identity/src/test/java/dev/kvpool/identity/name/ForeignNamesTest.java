// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.name;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ForeignNamesTest {
    private static final String POOL = "5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01";
    private static final String HEAD = "pool " + POOL + "\ntrust-domain cluster.local\n";
    private static final List<String> VECTORS = vectors();

    private static List<String> vectors() {
        try {
            return Files.readAllLines(Path.of("../native/schema/foreign-names.txt"));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static ForeignNames rules() {
        return ForeignNames.parse(String.join("\n", VECTORS.subList(0, VECTORS.indexOf("names"))));
    }

    static Stream<String> names() {
        return VECTORS.subList(VECTORS.indexOf("names") + 1, VECTORS.indexOf("refused")).stream();
    }

    static Stream<String> refused() {
        return VECTORS.subList(VECTORS.indexOf("refused") + 1, VECTORS.size()).stream();
    }

    @ParameterizedTest
    @MethodSource("names")
    void aNameIsWhatTheVectorsSay(String line) {
        String uri = line.substring(0, line.indexOf(' '));
        String path = line.substring(line.indexOf(' ') + 1);
        if (path.equals("-")) {
            assertThatThrownBy(() -> rules().name(uri))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(uri)
                    .hasMessageContaining("cluster.local");
        } else {
            PeerName name = rules().name(uri);
            assertThat(name.path()).isEqualTo(path);
            assertThat(name.trustDomain()).hasToString(POOL);
        }
    }

    @ParameterizedTest
    @MethodSource("refused")
    void rulesThatAreWrongAreRefused(String text) {
        assertThatThrownBy(() -> ForeignNames.parse(text.replace(';', '\n')))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .containsAnyOf("line ", "it lacks the line");
    }

    @Test
    void whatIsMissingIsSaid() {
        ForeignNames names = ForeignNames.parse(HEAD + "a/master master\n");
        assertThatThrownBy(() -> names.name("spiffe://cluster.local/ns/team-a/sa/engine"))
                .hasMessageContaining("there is no rule for ServiceAccount team-a/engine")
                .hasMessageContaining("spec.tenants[].serviceAccounts");
        assertThatThrownBy(() -> names.name("spiffe://cluster.local/engine"))
                .hasMessageContaining("are spiffe://cluster.local/ns/NAMESPACE/sa/ACCOUNT");
        assertThatThrownBy(() -> ForeignNames.NONE.name("spiffe://cluster.local/ns/a/sa/master"))
                .hasMessageContaining("its trust domain is no pool id");
    }

    @Test
    void aNameOfAnyProcessMayBeEach() {
        PeerName any = ForeignNames.parse(HEAD + "a/storage node\n").name("spiffe://cluster.local/ns/a/sa/storage");
        PeerName one = PeerName.ofPath(any.trustDomain(), "node/n-0");

        assertThat(any.role()).isEqualTo(PeerRole.NODE);
        assertThat(any.mayBe("n-0")).isTrue();
        assertThat(one.mayBe("n-0")).isTrue();
        assertThat(one.mayBe("n-1")).isFalse();
        assertThatThrownBy(() -> PeerName.ofPath(any.trustDomain(), any.path())).hasMessageContaining("node/*");
    }

    @Test
    void rulesAndNamesHaveBounds() {
        assertThatThrownBy(() -> ForeignNames.parse(HEAD + "\n".repeat(10_001))).hasMessageContaining("10003 lines");
        String long254 = "a".repeat(63) + "." + "a".repeat(63) + "." + "a".repeat(63) + "." + "a".repeat(62);
        assertThatThrownBy(() -> ForeignNames.parse(HEAD + "a/" + long254 + " master"))
                .hasMessageContaining("line 3");
        // A namespace and an account that together are too long for a name.
        ForeignNames names = ForeignNames.parse(HEAD + "a/* tenant default rw");
        assertThat(names.name("spiffe://cluster.local/ns/a/sa/" + long254.substring(3))
                        .name())
                .hasSize(253);
        assertThatThrownBy(() -> names.name("spiffe://cluster.local/ns/a/sa/" + long254.substring(2)))
                .message()
                .hasSizeLessThan(1_000);
    }
}
