// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.awaitility.Awaitility.await;

import dev.kvpool.dataplane.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A {@code kvpool local} in a process of its own, with what it printed. */
final class LocalRun implements AutoCloseable {
    /** Generous, since the machine of a test may be busy; nothing waits that long when all is well. */
    static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Pattern STARTED = Pattern.compile("started (\\S+) pid=(\\d+) port=(\\d+)");

    private final Process process;
    private final int masterPort;
    private final int adminPort;
    private final List<String> out = new CopyOnWriteArrayList<>();
    private final List<String> err = new CopyOnWriteArrayList<>();

    private LocalRun(Process process, int masterPort, int adminPort) {
        this.process = process;
        this.masterPort = masterPort;
        this.adminPort = adminPort;
        Thread.ofVirtual().start(() -> readAll(process.inputReader(), out));
        Thread.ofVirtual().start(() -> readAll(process.errorReader(), err));
    }

    private static void readAll(BufferedReader from, List<String> lines) {
        try {
            from.lines().forEach(lines::add);
        } catch (UncheckedIOException e) {
            lines.add("[closed: the test ended this process]");
        }
    }

    /** Starts local of this main class with small JVMs, segments of 32 MiB, and free ports. */
    static LocalRun start(Class<?> mainClass, String... flags) throws IOException, InterruptedException {
        int ports = FreePorts.inARow(60);
        return start(mainClass, ports, ports, flags);
    }

    /** As {@link #start}, but with this port for master 0. */
    static LocalRun startOnPort(Class<?> mainClass, int masterPort) throws IOException, InterruptedException {
        return start(mainClass, masterPort, FreePorts.inARow(60));
    }

    private static LocalRun start(Class<?> mainClass, int masterPort, int ports, String... flags) throws IOException {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("--master-port", Integer.toString(masterPort));
        settings.put("--admin-port", Integer.toString(ports + 10));
        settings.put("--node-port", Integer.toString(ports + 20));
        settings.put("--node-admin-port", Integer.toString(ports + 30));
        settings.put("--secure-admin-port", Integer.toString(ports + 40));
        settings.put("--node-secure-admin-port", Integer.toString(ports + 50));
        settings.put("--segment-size", "32MiB");
        settings.put("--master-heap", "64MiB");
        List<String> command = ChildJvm.command(mainClass, ChildJvm.SMALL);
        command.add("local");
        for (String flag : flags) {
            settings.remove(flag);
            command.add(flag);
        }
        settings.forEach((flag, value) -> command.addAll(List.of(flag, value)));
        return new LocalRun(new ProcessBuilder(command).start(), masterPort, ports + 10);
    }

    String masters(int count) {
        List<String> places = new ArrayList<>();
        for (int k = 0; k < count; k++) {
            places.add("127.0.0.1:" + (masterPort + k));
        }
        return String.join(",", places);
    }

    int adminPort() {
        return adminPort;
    }

    /** Of node 0; the others follow. */
    int nodeAdminPort() {
        return adminPort + 20;
    }

    /** Of master 0, where TLS is on; the others follow. */
    int secureAdminPort() {
        return adminPort + 30;
    }

    /** Of node 0, where TLS is on; the others follow. */
    int nodeSecureAdminPort() {
        return adminPort + 40;
    }

    List<String> out() {
        return out;
    }

    String err() {
        return String.join("\n", err);
    }

    /** Waits until so many lines begin like this. */
    LocalRun awaitLines(String beginning, int count) {
        await("line '" + beginning + "' of " + out + err)
                .atMost(PATIENCE)
                .until(() ->
                        out.stream().filter(line -> line.startsWith(beginning)).count() >= count || !process.isAlive());
        if (out.stream().filter(line -> line.startsWith(beginning)).count() < count) {
            throw new AssertionError("local ended without '" + beginning + "': " + out + "\n" + err());
        }
        return this;
    }

    /** The process that was last started under each name. */
    Map<String, ProcessHandle> children() {
        Map<String, ProcessHandle> children = new TreeMap<>();
        for (String line : out) {
            Matcher started = STARTED.matcher(line);
            if (started.matches()) {
                ProcessHandle.of(Long.parseLong(started.group(2)))
                        .ifPresent(child -> children.put(started.group(1), child));
            }
        }
        return children;
    }

    /** SIGKILL to a child. */
    void kill(String child) {
        children().get(child).destroyForcibly();
    }

    /** SIGKILL to local itself. */
    void killItself() throws InterruptedException {
        process.destroyForcibly();
        process.waitFor();
    }

    /** SIGTERM to local, and its exit code. */
    int stop() throws InterruptedException {
        process.destroy();
        return exitCode();
    }

    int exitCode() throws InterruptedException {
        if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("local did not end: " + out + "\n" + err());
        }
        return process.exitValue();
    }

    /** The directory it said it uses. */
    Path dataDirectory() {
        String line = err.stream()
                .filter(text -> text.contains("data in "))
                .findFirst()
                .orElseThrow();
        return Path.of(line.replaceFirst(".*data in ", "").replaceFirst("(,| \\().*", ""));
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
