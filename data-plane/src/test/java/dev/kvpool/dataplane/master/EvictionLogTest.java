// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EvictionLogTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long MUCH = 1 << 20;

    @TempDir
    Path directory;

    private long nowNs = 5_000_000;

    @Test
    void eachEvictedObjectIsALine() throws Exception {
        Path file = directory.resolve("log");
        try (EvictionLog log = open(file, MUCH)) {
            log.write(List.of(
                    new Action.Report("a decision"),
                    new Action.Evicted(Key.of("a"), new ObjectId(7, 1), 4096, List.of("node-0", "node-1"), 250),
                    new Action.LookAtLease(),
                    evicted("b")));
        }

        assertThat(Files.readString(file))
                .startsWith("{\"time\":\"2026-01-02T03:04:05.678Z\",\"monotonicNs\":5000000,\"key\":\"a\","
                        + "\"id\":\"7.1\",\"bytes\":4096,\"nodes\":[\"node-0\",\"node-1\"],\"idleMs\":250}\n")
                .endsWith("\n");
        assertThat(lines(file)).extracting(line -> line.path("key").asText()).containsExactly("a", "b");
    }

    @Test
    void aLineIsThereAsSoonAsTheTurnIsWrittenDown() throws Exception {
        Path file = directory.resolve("log");
        try (EvictionLog log = open(file, MUCH)) {
            log.write(List.of(new Action.Report("nothing is evicted")));
            assertThat(file).isEmptyFile();

            log.write(List.of(evicted("a")));
            assertThat(lines(file)).hasSize(1);
        }
    }

    @Test
    void keysNeedNotBeTextNorOneLine() throws Exception {
        Path file = directory.resolve("log");
        try (EvictionLog log = open(file, MUCH)) {
            log.write(List.of(
                    evicted(Key.of(new byte[] {'k', (byte) 0xff, 0})),
                    evicted("two\n\"lines\" \u00fc \ud83d\ude00 \u0001")));
        }

        assertThat(lines(file)).hasSize(2);
        assertThat(lines(file).getFirst().path("keyHex").asText()).isEqualTo("6bff00");
        assertThat(lines(file).getFirst().has("key")).isFalse();
        assertThat(lines(file).getLast().path("key").asText()).isEqualTo("two\n\"lines\" \u00fc \ud83d\ude00 \u0001");
    }

    @Test
    void aKeyIsWrittenAsItsTenantKnowsItWhateverItsBytes() throws Exception {
        Path file = directory.resolve("log");
        Tenant chat = Tenant.of("chat");
        try (EvictionLog log = open(file, MUCH)) {
            log.write(List.of(evicted(chat.qualify(Key.of("a"))), evicted(chat.qualify(Key.of(new byte[] {
                'k', (byte) 0xff
            })))));
        }

        assertThat(lines(file)).extracting(line -> line.path("tenant").asText()).containsExactly("chat", "chat");
        assertThat(lines(file).getFirst().path("key").asText()).isEqualTo("a");
        assertThat(lines(file).getLast().path("keyHex").asText()).isEqualTo("6bff");
    }

    @Test
    void aFullFileIsKeptUntilTheNextOneIsFull() throws Exception {
        Path file = directory.resolve("log");
        try (EvictionLog log = open(file, 300)) {
            for (int i = 0; i < 7; i++) {
                log.write(List.of(evicted("k" + i)));
            }
        }

        assertThat(Files.size(file)).isLessThanOrEqualTo(300);
        List<JsonNode> kept = new ArrayList<>(lines(directory.resolve("log.1")));
        assertThat(kept).isNotEmpty();
        kept.addAll(lines(file));
        int first = 7 - kept.size();
        for (int i = 0; i < kept.size(); i++) {
            assertThat(kept.get(i).path("key").asText()).isEqualTo("k" + (first + i));
        }
        assertThat(directory.toFile().list()).containsExactlyInAnyOrder("log", "log.1");
    }

    @Test
    void aTurnLongerThanTheFileMayBeIsWrittenWhole() throws Exception {
        Path file = directory.resolve("log");
        try (EvictionLog log = open(file, 10)) {
            log.write(List.of(evicted("a"), evicted("b")));
            log.write(List.of(evicted("c")));
        }

        assertThat(lines(directory.resolve("log.1"))).hasSize(2);
        assertThat(lines(file)).hasSize(1);
    }

    @Test
    void aLineThatWasCutOffIsLeftAlone() throws Exception {
        Path file = directory.resolve("log");
        try (EvictionLog log = open(file, MUCH)) {
            log.write(List.of(evicted("a")));
        }
        Files.writeString(file, "{\"time\":\"20", StandardOpenOption.APPEND);

        try (EvictionLog log = open(file, MUCH)) {
            log.write(List.of(evicted("b")));
        }

        List<String> lines = Files.readAllLines(file);
        assertThat(lines).hasSize(3);
        assertThat(lines.get(1)).isEqualTo("{\"time\":\"20");
        assertThat(JSON.readTree(lines.get(2)).path("key").asText()).isEqualTo("b");
    }

    @Test
    void whatCouldNotBeWrittenIsCountedInTheFile() throws Exception {
        Path file = directory.resolve("log");
        Path wall = directory.resolve("log.1").resolve("in the way");
        try (EvictionLog log = open(file, 200)) {
            log.write(List.of(evicted("a")));
            Files.createDirectories(wall); // no file can take the place of this directory
            log.write(List.of(evicted("b"), evicted("c")));
            Files.delete(wall);
            Files.delete(wall.getParent());
            log.write(List.of(evicted("d"))); // not tried again so soon
            nowNs += EvictionLog.RETRY_NS;

            log.write(List.of(evicted("e")));
        }

        List<JsonNode> lines = new ArrayList<>(lines(directory.resolve("log.1")));
        lines.addAll(lines(file));
        assertThat(lines)
                .extracting(line -> line.has("missing")
                        ? line.path("missing").asText()
                        : line.path("key").asText())
                .containsExactly("a", "3", "e");
    }

    @Test
    void twoMastersDoNotShareAFile() throws Exception {
        Path file = directory.resolve("log");
        try (EvictionLog _ = open(file, MUCH)) {
            assertThatThrownBy(() -> open(file, MUCH))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("another process writes to the eviction log " + file);
        }
        open(file, MUCH).close();
    }

    @Test
    void whatIsNoFileIsRefused() {
        assertThatThrownBy(() -> open(directory, MUCH))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(directory + " is no regular file");
        assertThatThrownBy(() -> open(directory.resolve("none").resolve("log"), MUCH))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cannot write the eviction log")
                .hasMessageContaining("is its directory there?");
    }

    private EvictionLog open(Path file, long bytesMax) throws IOException {
        return EvictionLog.open(
                new EvictionLog.Place(file, bytesMax), () -> Instant.parse("2026-01-02T03:04:05.678901Z"), () -> nowNs);
    }

    private static Action.Evicted evicted(String key) {
        return evicted(Key.of(key));
    }

    private static Action.Evicted evicted(Key key) {
        return new Action.Evicted(key, new ObjectId(1, 2), 100, List.of("node-0"), 0);
    }

    private static List<JsonNode> lines(Path file) throws IOException {
        List<JsonNode> lines = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            lines.add(JSON.readTree(line));
        }
        return lines;
    }
}
