// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.fuzz.FuzzRuns;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.base.PlainSettings;
import dev.kvpool.dataplane.master.file.CacheRulesFile;
import dev.kvpool.dataplane.master.file.ExpectedNodesFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that a master follows, with anything in them, and the address that a node names; as {@link FuzzRuns} says. */
class FilesFuzzTest {
    private static final CacheRules START =
            PlainSettings.rules(10_000, new EvictionRules(0.9, 0.8, 0.05, 60_000, true), 1, 30_000, 1 << 20);

    @TempDir
    Path directory;

    @Test
    void aFileOfExpectedNodesIsReadOrRefused() {
        Path file = directory.resolve("nodes");
        List<byte[]> samples = texts(
                "# nodes\n\n a-0 \na-1 east-1a\nset.host\tb\n",
                "a\nb\nc\r\nd zone\n",
                "a \u00e9t\u00e9\n",
                "\u2028 \u3000 x",
                "z".repeat(64));

        int count = new FuzzRuns(samples, IOException.class)
                .oneOf(50)
                .allocating(256)
                .run(input -> {
                    Files.write(file, input);
                    Map<String, String> nodes = new ExpectedNodesFile(file).read();
                    if (nodes.keySet().stream().anyMatch(String::isEmpty)) {
                        throw new AssertionError("a node without a name in " + nodes);
                    }
                });

        assertThat(count).isPositive();
    }

    @Test
    void aFileOfCacheRulesIsReadOrRefused() {
        Path file = directory.resolve("rules");
        List<byte[]> samples = texts(
                "object-lease=20s\neviction-high-watermark=0.7\neviction-low-watermark = 0.6\nend\n",
                "# all\ntakeover-reserve=0\nsoft-pin-ttl=2h\nallow-evict-soft-pinned=false\nreplicas=3\nend\n",
                "repair-delay=1m\nrepair-rate=1.5GiB\n\nend",
                "99999999999999999999",
                "1e999999999",
                "0x1p-1074",
                "NaN");

        int count = new FuzzRuns(samples, IOException.class)
                .oneOf(50)
                .allocating(512)
                .run(input -> {
                    Files.write(file, input);
                    CacheRules rules = new CacheRulesFile(file, START)
                            .readIfChanged()
                            .orElseThrow()
                            .rules();
                    EvictionRules eviction = rules.eviction();
                    boolean sound = eviction.low() > 0
                            && eviction.low() < eviction.high()
                            && eviction.high() <= 1
                            && rules.replicas() >= 1
                            && rules.objectLeaseMs() > 0
                            && rules.repairBytesPerSecond() > 0;
                    if (!sound) {
                        throw new AssertionError("no rules: " + rules);
                    }
                });

        assertThat(count).isPositive();
    }

    @Test
    void anAddressIsReadOrRefused() {
        List<byte[]> samples = texts("m-0:50051", "[::1]:50051", "[fe80::1%eth0]:1", "10.0.0.1:65535", ":", "]:[");

        int count = new FuzzRuns(samples, IllegalArgumentException.class)
                .oneOf(4)
                .run(input -> {
                    HostPort place = HostPort.parse(new String(input, StandardCharsets.UTF_8));
                    if (!HostPort.parse(place.toString()).equals(place)) {
                        throw new AssertionError(place + " is not read as itself");
                    }
                });

        assertThat(count).isPositive();
    }

    private static List<byte[]> texts(String... texts) {
        return Stream.of(texts)
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toList();
    }
}
