// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CommandRunnerTest {
    private static final Setting<Integer> PORT = Setting.withDefault("port", Formats.PORT, "50051", "Where to listen.");
    private static final Setting<Boolean> FAST = Setting.onOff("fast", "Hurry.");

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    @Test
    void runsTheCommandWithItsSettings() {
        assertThat(run(Map.of(), "serve", "--port", "7", "--fast")).isEqualTo(ExitCode.OK);
        assertThat(out()).isEqualTo("port 7 fast true\n");
        assertThat(err()).isEmpty();
    }

    @Test
    void valuesMayFollowAnEqualsSignOrComeFromTheEnvironment() {
        assertThat(run(Map.of("KVPOOL_FAST", "true"), "serve", "--port=8")).isEqualTo(ExitCode.OK);
        assertThat(out()).isEqualTo("port 8 fast true\n");
    }

    @Test
    void aSwitchCanBeTurnedOffAgainstTheEnvironment() {
        assertThat(run(Map.of("KVPOOL_FAST", "true"), "serve", "--fast=false")).isEqualTo(ExitCode.OK);
        assertThat(out()).isEqualTo("port 50051 fast false\n");
    }

    @Test
    void everythingWrongIsToldAtOnceAndNothingRuns() {
        int code = run(Map.of("KVPOOL_FAST", "no"), "serve", "--porrt", "7", "--port", "x", "rest");

        assertThat(code).isEqualTo(ExitCode.USAGE);
        assertThat(out()).isEmpty();
        assertThat(err())
                .contains("unknown flag '--porrt'; did you mean --port")
                .contains("unexpected argument 'rest'")
                .contains("KVPOOL_FAST (environment) is 'no'")
                .contains("--port is 'x'")
                .contains("kvpool serve --help");
    }

    @Test
    void aCommandOfAGroupIsNamedByTwoWords() {
        assertThat(run(Map.of(), "paint", "wall", "--port", "7")).isEqualTo(ExitCode.OK);
        assertThat(out()).isEqualTo("port 7 fast false\n");
        assertThat(run(Map.of(), "paint", "door", "--porrt", "7")).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("unknown flag '--porrt'").contains("kvpool paint door --help");
    }

    @Test
    void aGroupAloneIsNoCommand() {
        assertThat(run(Map.of(), "paint")).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("no command given; there are serve, fail, paint wall, paint door");
        assertThat(run(Map.of(), "paint", "roof")).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("unknown command 'roof'");
        assertThat(run(Map.of(), "paint", "--help")).isEqualTo(ExitCode.OK);
        assertThat(out()).contains("wall").contains("door");
    }

    @Test
    void aFlagWithoutValueOrGivenTwiceIsRefused() {
        assertThat(run(Map.of(), "serve", "--port")).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("--port");
        assertThat(run(Map.of(), "serve", "--port", "1", "--port", "2")).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("--port").contains("only once");
    }

    @Test
    void withoutACommandTheCommandsAreNamed() {
        assertThat(run(Map.of())).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("no command given; there are serve, fail");
    }

    @Test
    void anUnknownCommandIsNamed() {
        assertThat(run(Map.of(), "sevre")).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("unknown command 'sevre'; there are serve, fail");
    }

    @Test
    void helpShowsFlagsAndDefaultsButNotWhatIsInternal() {
        assertThat(run(Map.of(), "serve", "--help")).isEqualTo(ExitCode.OK);
        assertThat(out())
                .contains("--port=PORT", "Where to listen. Default: 50051.", "--fast", "KVPOOL_")
                .doesNotContain("parent-watch");
        assertThat(run(Map.of(), "--help")).isEqualTo(ExitCode.OK);
        assertThat(out()).contains("serve", "fail");
    }

    @Test
    void aFailureIsOneSentenceAndExitCodeOne() {
        assertThat(run(Map.of(), "fail")).isEqualTo(ExitCode.FAILURE);
        assertThat(err()).isEqualTo("kvpool fail: the disk is full\n");
    }

    @Test
    void aDefectIsExitCodeOneWithItsTrace() {
        assertThat(run(Map.of("KVPOOL_PORT", "13"), "serve")).isEqualTo(ExitCode.FAILURE);
        assertThat(err())
                .contains("kvpool serve: a defect of kvpool")
                .contains("unlucky")
                .contains("Serve.run");
    }

    @Test
    void variablesOfOtherProgramsAreIgnored() {
        assertThat(run(Map.of("KVPOOL_REUSE", "on", "KVPOOL_PROTOCOL_OVERRIDE", "tcp"), "serve"))
                .isEqualTo(ExitCode.OK);
        assertThat(out()).isEqualTo("port 50051 fast false\n");
        assertThat(err()).isEmpty();
    }

    @Test
    void aVariableThatLooksMisspeltIsIgnoredWithAWarning() {
        assertThat(run(Map.of("KVPOOL_PROT", "7"), "serve")).isEqualTo(ExitCode.OK);
        assertThat(out()).isEqualTo("port 50051 fast false\n");
        assertThat(err())
                .isEqualTo("kvpool: ignored environment variable KVPOOL_PROT, which is no setting;"
                        + " did you mean KVPOOL_PORT?\n");
    }

    @Test
    void whatWasMisspeltIsNamedWhenSomethingIsRefused() {
        assertThat(run(Map.of("KVPOOL_PROT", "7"), "serve", "--porrt", "7")).isEqualTo(ExitCode.USAGE);
        assertThat(err()).contains("did you mean KVPOOL_PORT?").contains("unknown flag '--porrt'");
    }

    @Test
    void ignoredServiceVariablesAreMentioned() {
        assertThat(run(Map.of("KVPOOL_PORT", "tcp://10.0.0.1:50051"), "serve")).isEqualTo(ExitCode.OK);
        assertThat(out()).isEqualTo("port 50051 fast false\n");
        assertThat(err()).contains("KVPOOL_PORT").contains("enableServiceLinks");
    }

    private int run(Map<String, String> environment, String... arguments) {
        out.reset();
        err.reset();
        Console console = new Console(
                new ByteArrayInputStream(new byte[0]),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                new StopSignal());
        return new CommandRunner(
                        List.of(new Serve("serve"), new Fail(), new Serve("paint wall"), new Serve("paint door")),
                        environment,
                        console)
                .run(arguments);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    /** Prints its settings. */
    private record Serve(String name) implements Command {

        @Override
        public String summary() {
            return "Serves.";
        }

        @Override
        public List<Setting<?>> settings() {
            return List.of(PORT, FAST);
        }

        @Override
        public int run(Settings settings, Console console) {
            if (settings.get(PORT) == 13) {
                throw new IllegalStateException("unlucky");
            }
            console.out().print("port " + settings.get(PORT) + " fast " + settings.get(FAST) + "\n");
            return ExitCode.OK;
        }
    }

    /** Cannot go on. */
    private static final class Fail implements Command {
        @Override
        public String name() {
            return "fail";
        }

        @Override
        public String summary() {
            return "Fails.";
        }

        @Override
        public List<Setting<?>> settings() {
            return List.of();
        }

        @Override
        public int run(Settings settings, Console console) throws FailureException {
            throw new FailureException("the disk is full");
        }
    }
}
