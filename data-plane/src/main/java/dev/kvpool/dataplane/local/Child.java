// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import dev.kvpool.dataplane.cli.ParentWatch;
import dev.kvpool.dataplane.config.KvpoolEnvironment;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A running child: another JVM with the class path of this one. Its standard input is a pipe that only this process holds
 * and never writes to; the child stops when it ends.
 */
final class Child {
    private static final int SIGNAL_BASE = 128;

    private final ChildSpec spec;
    private final Process process;

    private Child(ChildSpec spec, Process process) {
        this.spec = spec;
        this.process = process;
    }

    static Child start(Class<?> mainClass, ChildSpec spec, Path log) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(spec.jvmOptions());
        command.addAll(whatPrepareNoted());
        command.addAll(whereNativeLibrariesAre());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass.getName()));
        command.addAll(spec.arguments());
        command.add(ParentWatch.SETTING.flag());
        ProcessBuilder builder = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()));
        // Everything a child needs is in its flags; what was meant for local must not reach it a second time.
        builder.environment()
                .keySet()
                .removeIf(name -> name.startsWith("KVPOOL_") && !KvpoolEnvironment.OF_THE_LIBRARY.contains(name));
        return new Child(spec, builder.start());
    }

    /** What the launcher told this JVM about native libraries holds for its children. */
    private static List<String> whereNativeLibrariesAre() {
        return Stream.of("jna.nounpack", "jna.boot.library.path", "jna.library.path")
                .filter(name -> System.getProperty(name) != null)
                .map(name -> "-D" + name + "=" + System.getProperty(name))
                .toList();
    }

    /** As the launcher does it: {@code kvpool prepare} leaves its notes beside the jar. */
    private static List<String> whatPrepareNoted() {
        Path jar = Path.of(System.getProperty("java.class.path").split(File.pathSeparator, 2)[0]);
        Path noted = jar.resolveSibling("kvpool.aot");
        return Files.isRegularFile(noted) ? List.of("-XX:AOTCache=" + noted) : List.of();
    }

    String name() {
        return spec.name();
    }

    long pid() {
        return process.pid();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** How it ended, for people; only when it is dead. */
    String reason() {
        int value = process.exitValue();
        return value > SIGNAL_BASE ? "killed by signal " + (value - SIGNAL_BASE) : "with exit code " + value;
    }

    void askToStop() {
        process.destroy();
    }

    /** Waits for its end, and kills it when that takes too long; true when it ended by itself. */
    boolean awaitEnd(Duration patience) throws InterruptedException {
        if (process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS)) {
            return true;
        }
        process.destroyForcibly();
        process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS);
        return false;
    }
}
