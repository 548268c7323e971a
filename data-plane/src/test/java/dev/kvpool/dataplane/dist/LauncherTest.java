// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.dist;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The program bin/kvpool with a Java that only prints how it was called. */
class LauncherTest {
    private static final Path OPTIONS = Path.of("src/main/dist/lib/options");
    private static final List<String> ROLES = List.of("master", "node", "prepare", "other");

    @TempDir
    Path dir;

    private Path kvpool;

    private record Result(int code, List<String> lines) {}

    @BeforeEach
    void install() throws IOException {
        kvpool = dir.resolve("opt/bin/kvpool");
        Files.createDirectories(kvpool.getParent());
        try (InputStream program = program()) {
            Files.copy(program, kvpool);
        }
        makeExecutable(kvpool);
        Path options = Files.createDirectories(dir.resolve("opt/lib/options"));
        for (String role : ROLES) {
            Files.copy(OPTIONS.resolve(role), options.resolve(role));
        }
        Files.createFile(dir.resolve("opt/lib/kvpool.jar"));
    }

    @Test
    void becomesTheJavaOfJavaHomeAndPassesArgumentsAsTheyAre() throws Exception {
        Result result = run(kvpool, javaHome("25.0.1"), "version", "--json", "two words", "");

        assertThat(result.code()).isEqualTo(7);
        assertThat(result.lines())
                .contains("--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED")
                .endsWith("-jar", real("opt/lib/kvpool.jar"), "version", "--json", "two words", "");
    }

    @Test
    void nativeLibrariesAreTakenFromItsOwnDirectory() throws Exception {
        String lib = real("opt/lib");

        assertThat(run(kvpool, javaHome("25"), "node").lines())
                .contains("-Djna.nounpack=true")
                .anyMatch(line -> line.startsWith("-Djna.library.path=" + lib + "/native/linux-"))
                .anyMatch(line -> line.startsWith("-Djna.boot.library.path=" + lib + "/native/"));
    }

    @Test
    void worksThroughSymbolicLinksFromAnyDirectory() throws Exception {
        Path absolute = Files.createSymbolicLink(dir.resolve("absolute"), kvpool);
        Path relative = Files.createSymbolicLink(dir.resolve("relative"), Path.of("opt/bin/kvpool"));
        Path chain = Files.createSymbolicLink(dir.resolve("chain"), Path.of("relative"));

        for (Path link : List.of(absolute, relative, chain)) {
            assertThat(run(link, javaHome("25"), "version").lines()).contains(real("opt/lib/kvpool.jar"));
        }
    }

    @Test
    void eachRoleHasItsMemory() throws Exception {
        assertThat(run(kvpool, javaHome("25"), "node").lines()).contains("-Xmx64m");
        assertThat(run(kvpool, javaHome("25"), "master").lines())
                .contains("-XX:+UseG1GC", "-XX:MaxRAMPercentage=60")
                .noneMatch(line -> line.startsWith("-Xmx"));
    }

    @Test
    void startsFromWhatPrepareNotedOnceThereIsSuch() throws Exception {
        Path noted = dir.resolve("opt/lib/kvpool.aot");
        String use = "-XX:AOTCache=" + real("opt/lib") + "/kvpool.aot";

        assertThat(run(kvpool, javaHome("25"), "master").lines()).doesNotContain(use);
        assertThat(run(kvpool, javaHome("25"), "prepare").lines())
                .contains("-XX:AOTCacheOutput=" + real("opt/lib") + "/kvpool.aot");
        Files.createFile(noted);
        for (String command : List.of("master", "node", "local", "version")) {
            assertThat(run(kvpool, javaHome("25"), command).lines()).contains(use);
        }
        assertThat(run(kvpool, javaHome("25"), "prepare").lines()).doesNotContain(use);
    }

    @Test
    void whatJavaItselfSaysStaysOutOfResults() throws Exception {
        List<String> lines = run(kvpool, javaHome("25"), "version").lines();

        assertThat(lines).containsSubsequence("-Xlog:disable", "-Xlog:all=warning:stderr");
    }

    @Test
    void moreOptionsComeAfterItsOwnSoThatTheyWin() throws Exception {
        Map<String, String> environment =
                Map.of("JAVA_HOME", javaHome("25").get("JAVA_HOME"), "JAVA_OPTS", "-Xmx1g -Da=b");

        List<String> lines = run(kvpool, environment, "node").lines();

        assertThat(lines).contains("-Da=b");
        assertThat(lines.indexOf("-Xmx1g")).isGreaterThan(lines.indexOf("-Xmx64m"));
    }

    @Test
    void aCollectorInJavaOptsTakesThePlaceOfItsOwn() throws Exception {
        Map<String, String> environment =
                Map.of("JAVA_HOME", javaHome("25").get("JAVA_HOME"), "JAVA_OPTS", "-Da=b -XX:+UseZGC");

        assertThat(run(kvpool, environment, "master").lines())
                .filteredOn(line -> line.matches("-XX:\\+Use.*GC"))
                .containsExactly("-XX:+UseZGC");
    }

    @Test
    void anOlderJavaHomeIsPassedOver() throws Exception {
        Map<String, String> old = javaHome("17.0.9");
        Path onPath = fakeJava(dir.resolve("newer"), "25.0.1").resolve("bin");
        Map<String, String> environment =
                Map.of("JAVA_HOME", old.get("JAVA_HOME"), "PATH", onPath + ":" + System.getenv("PATH"));

        assertThat(run(kvpool, environment, "version").lines().getFirst()).isEqualTo("java 25.0.1");
    }

    @Test
    void prepareRunsWithTheCollectorThatNotesObjects() throws Exception {
        assertThat(run(kvpool, javaHome("25"), "prepare").lines())
                .contains("-XX:+UseG1GC", "-Xmx256m", "-Xlog:all=error:stderr");
    }

    @Test
    void needsNoShellToFindJava() throws Exception {
        Map<String, String> environment = Map.of("JAVA_HOME", javaHome("25").get("JAVA_HOME"), "PATH", dir.toString());

        assertThat(run(kvpool, environment, "version").code()).isEqualTo(7);
    }

    @Test
    void makesADirectoryAndGivesItAway() throws Exception {
        Path made = dir.resolve("made/deep");
        Object user = Files.getAttribute(dir, "unix:uid");

        Result result = run(kvpool, Map.of(), "own-directories", user.toString(), "0750", made.toString());

        assertThat(result).isEqualTo(new Result(0, List.of()));
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(made)))
                .isEqualTo("rwxr-x---");
        assertThat(Files.getAttribute(made, "unix:uid")).isEqualTo(user);
        assertThat(run(kvpool, Map.of(), "own-directories", "me", "0750", made.toString())
                        .code())
                .isEqualTo(2);
    }

    @Test
    void removesADirectoryAndNothingThatALinkInItLeadsTo() throws Exception {
        Path kept =
                Files.createFile(Files.createDirectories(dir.resolve("kept")).resolve("file"));
        Path gone = Files.createDirectories(dir.resolve("gone/deep")).getParent();
        Files.createFile(gone.resolve("deep/file"));
        Files.createSymbolicLink(gone.resolve("link"), kept.getParent());

        Result result = run(kvpool, Map.of(), "remove-directories", gone.toString(), dir + "/never-there");

        assertThat(result).isEqualTo(new Result(0, List.of()));
        assertThat(gone).doesNotExist();
        assertThat(kept).exists();
    }

    @Test
    void copiesWhatTheHostHasAndLeavesAnEmptyFileForWhatItLacks() throws Exception {
        Path host = Files.createDirectories(dir.resolve("host/etc/deep"));
        Files.writeString(host.resolve("tool"), "tool");
        makeExecutable(host.resolve("tool"));
        Files.createSymbolicLink(host.resolve("round"), host);
        Path files = Files.createDirectory(dir.resolve("files"));
        String[] command = {
            "copy-host-files",
            host + "/tool",
            files + "/usr/tool",
            host.getParent().toString(),
            files + "/all",
            host + "/absent",
            files + "/etc/absent"
        };

        Result first = run(kvpool, Map.of(), command);

        assertThat(first)
                .isEqualTo(new Result(
                        0, List.of("kvpool: %s/absent is not there: it is an empty file here".formatted(host))));
        assertThat(files.resolve("usr/tool")).hasContent("tool").isExecutable();
        assertThat(files.resolve("all/deep/tool")).hasContent("tool");
        assertThat(files.resolve("all/deep/round")).doesNotExist();
        assertThat(files.resolve("etc/absent")).isEmptyFile();
        assertThat(host.resolve("absent")).doesNotExist();
        assertThat(run(kvpool, Map.of(), command).code()).as("once more").isZero();
        assertThat(run(kvpool, Map.of(), "copy-host-files", host + "/tool").code())
                .isEqualTo(2);
    }

    @Test
    void copiesNoMoreThanItsBoundAndNamesIt() throws Exception {
        Path large = dir.resolve("large");
        try (var file = new RandomAccessFile(large.toFile(), "rw")) {
            file.setLength((64 << 20) + 1);
        }

        Result result = run(kvpool, Map.of(), "copy-host-files", large.toString(), dir + "/copy");

        assertThat(result.code()).isEqualTo(1);
        assertThat(result.lines()).singleElement().asString().contains(large.toString(), "larger than 64 MiB");
        assertThat(dir.resolve("copy")).doesNotExist();
    }

    @Test
    void removesNothingWhenOneNameIsTooShort() throws Exception {
        Path kept = Files.createDirectories(dir.resolve("kept"));

        for (String name : List.of("/", "/absent", "/absent/", "//absent", "relative/path", "/a/../absent", "")) {
            assertThat(run(kvpool, Map.of(), "remove-directories", kept.toString(), name)
                            .code())
                    .as(name)
                    .isEqualTo(2);
        }
        assertThat(kept).exists();
    }

    @Test
    void aMissingJarIsTold() throws Exception {
        Files.delete(dir.resolve("opt/lib/kvpool.jar"));

        Result result = run(kvpool, javaHome("25"), "version");

        assertThat(result.code()).isEqualTo(1);
        assertThat(result.lines()).singleElement().asString().contains("kvpool.jar is missing");
    }

    private static InputStream program() {
        String machine = System.getProperty("os.arch").equals("aarch64") ? "linux-aarch64" : "linux-x86-64";
        return Objects.requireNonNull(LauncherTest.class.getResourceAsStream("/" + machine + "/kvpool"));
    }

    private Map<String, String> javaHome(String version) throws IOException {
        return Map.of(
                "JAVA_HOME", fakeJava(dir.resolve("java-" + version), version).toString());
    }

    private static Path fakeJava(Path home, String version) throws IOException {
        Files.createDirectories(home.resolve("bin"));
        Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"test\"\nJAVA_VERSION=\"" + version + "\"\n");
        Path java = home.resolve("bin/java");
        if (!Files.exists(java)) {
            Files.writeString(java, "#!/bin/sh\necho 'java " + version + "'\nprintf '%s\\n' \"$@\"\nexit 7\n");
            makeExecutable(java);
        }
        return home;
    }

    private static Result run(Path program, Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(new File("/")).redirectErrorStream(true);
        builder.environment().remove("JAVA_OPTS");
        builder.environment().putAll(environment);
        Process process = builder.start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), text.lines().toList());
    }

    private String real(String path) throws IOException {
        return dir.toRealPath().resolve(path).toString();
    }

    private static void makeExecutable(Path file) throws IOException {
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }
}
