// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class SettingsReaderTest {
    private static final Setting<Integer> PORT = Setting.required("port", Formats.PORT, "");
    private static final Setting<Duration> LEASE = Setting.withDefault(
            "object-lease", Durations.between(Duration.ofMillis(1), Duration.ofHours(1)), "10s", "");
    private static final Setting<Double> HIGH = Setting.withDefault("high-mark", Formats.RATIO, "0.9", "");
    private static final Setting<Double> LOW = Setting.withDefault("low-mark", Formats.RATIO, "0.8", "");
    private static final Setting<String> NAME = Setting.optional("name", Formats.NAME_TEXT, "");
    private static final List<Setting<?>> ALL = List.of(PORT, LEASE, HIGH, LOW, NAME);
    private static final Rule ORDER = new Rule(
            List.of(HIGH, LOW), values -> values.get(LOW) < values.get(HIGH), "--low-mark must be below --high-mark");

    @Test
    void defaultsApplyWhereNothingIsGiven() throws UsageException {
        Settings settings = read(Map.of("port", "50051"), Map.of());

        assertThat(settings.get(PORT)).isEqualTo(50051);
        assertThat(settings.get(LEASE)).isEqualTo(Duration.ofSeconds(10));
        assertThat(settings.find(NAME)).isEmpty();
    }

    @Test
    void theEnvironmentWinsOverDefaultsAndFlagsOverTheEnvironment() throws UsageException {
        Map<String, String> environment =
                Map.of("KVPOOL_PORT", "1", "KVPOOL_OBJECT_LEASE", "3s", "KVPOOL_NAME", "from-environment");

        Settings settings = read(Map.of("port", "2"), environment);

        assertThat(settings.get(PORT)).isEqualTo(2);
        assertThat(settings.get(LEASE)).isEqualTo(Duration.ofSeconds(3));
        assertThat(settings.find(NAME)).contains("from-environment");
    }

    @Test
    void everyProblemIsToldAtOnceWithFlagVariableValueAndWhatIsAllowed() {
        List<String> problems =
                problems(Map.of("object-lease", "10", "high-mark", "1.5"), Map.of("KVPOOL_NAME", "not a name"));

        assertThat(problems).hasSize(4);
        assertThat(problems.get(0)).contains("--port", "KVPOOL_PORT", "missing", "from 1 to 65535");
        assertThat(problems.get(1)).contains("--object-lease", "'10'", "500ms, 10s");
        assertThat(problems.get(2)).contains("--high-mark", "'1.5'", "at most 1");
        assertThat(problems.get(3)).contains("KVPOOL_NAME (environment)", "'not a name'", "letters, digits");
    }

    @Test
    void aBrokenRuleIsTold() {
        assertThat(problems(Map.of("port", "1", "low-mark", "0.95"), Map.of())).containsExactly(ORDER.problem());
    }

    @Test
    void aRuleAboutABrokenValueIsNotToldOnTop() {
        assertThat(problems(Map.of("port", "1", "low-mark", "x"), Map.of()))
                .singleElement()
                .asString()
                .contains("--low-mark");
    }

    @Test
    void whatWasFoundBeforeIsToldToo() {
        SettingsReader reader = new SettingsReader(Map.of(), Map.of()).alsoReport(List.of("unknown flag '--foo'"));

        UsageException e = catchThrowableOfType(UsageException.class, () -> reader.read(ALL, List.of()));

        assertThat(e.problems()).hasSize(2).first().isEqualTo("unknown flag '--foo'");
    }

    @Test
    void aHugeOrBinaryValueDoesNotFloodTheMessage() {
        assertThat(problems(Map.of("port", "9".repeat(100_000)), Map.of()).getFirst())
                .hasSizeLessThan(500)
                .contains("(100000 characters)");
        assertThat(problems(Map.of("port", "\u001b[2J\n"), Map.of()).getFirst()).doesNotContain("\u001b", "\n");
    }

    private static List<String> problems(Map<String, String> flags, Map<String, String> environment) {
        return catchThrowableOfType(UsageException.class, () -> read(flags, environment))
                .problems();
    }

    private static Settings read(Map<String, String> flags, Map<String, String> environment) throws UsageException {
        return new SettingsReader(flags, environment).read(ALL, List.of(ORDER));
    }
}
