// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.nativelib.Protocol;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What each format takes and what it refuses. */
class FormatsTest {
    private static final Format<Duration> DURATION = Durations.between(Duration.ofMillis(1), Duration.ofHours(24));
    private static final Format<Long> SIZE = Sizes.between(1, Long.MAX_VALUE);

    @ParameterizedTest
    @CsvSource({"500ms,500", "10s,10000", "2m,120000", "1h,3600000", "24h,86400000", "0500ms,500"})
    void durations(String text, long millis) {
        assertThat(DURATION.parse(text)).isEqualTo(Duration.ofMillis(millis));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "10", "10 s", "-1s", "1.5s", "s", "10S", "0s", "0ms", "25h", "10d", "1m30s", "999999999999h"
            })
    void noDurations(String text) {
        assertRefused(DURATION, text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1ms", "999ms", "10s", "61s", "2m", "90m", "24h"})
    void aDurationIsWrittenAsItIsRead(String text) {
        assertThat(Durations.format(DURATION.parse(text))).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource({
        "1,1",
        "1000000,1000000",
        "10B,10",
        "1Ki,1024",
        "1KiB,1024",
        "512MiB,536870912",
        "4GiB,4294967296",
        "4Gi,4294967296",
        "4GB,4000000000",
        "4G,4000000000",
        "4k,4000",
        "1.5GiB,1610612736",
        "2TiB,2199023255552"
    })
    void sizes(String text, long bytes) {
        assertThat(SIZE.parse(text)).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0",
                "-1",
                "4 GiB",
                "4gib",
                "4GIB",
                "GiB",
                "1.0000001GiB",
                "0.3",
                "9PiBB",
                "8388608TiB",
                "1e9",
                "100m",
                "9999999999999999999"
            })
    void noSizes(String text) {
        assertRefused(SIZE, text);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 1000, 1024, 1536, 1L << 30, (1L << 30) + 1, 4_000_000_000L, Long.MAX_VALUE})
    void aSizeReadsBackAsTheSameNumber(long bytes) {
        assertThat(SIZE.parse(Sizes.format(bytes))).isEqualTo(bytes);
    }

    @Test
    void sizesInSentencesAreShort() {
        assertThat(Sizes.about(0)).isEqualTo("0 bytes");
        assertThat(Sizes.about(1023)).isEqualTo("1023 bytes");
        assertThat(Sizes.about(4_000_000_000L)).isEqualTo("3.7 GiB");
    }

    @ParameterizedTest
    @CsvSource({
        "localhost:50051,localhost,50051",
        "10.0.0.7:1,10.0.0.7,1",
        "[::1]:65535,::1,65535",
        "[fe80::1%eth0]:50051,fe80::1%eth0,50051",
        "demo-master-0.demo-master.default.svc:50051,demo-master-0.demo-master.default.svc,50051"
    })
    void placesToConnectTo(String text, String host, int port) {
        HostPort place = HostPort.parse(text);

        assertThat(place).isEqualTo(new HostPort(host, port));
        assertThat(place).hasToString(text);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    localhost         | no port
                    localhost:        | no port
                    localhost:x       | no port
                    localhost:-1      | no port
                    localhost:0       | not between 1 and 65535
                    localhost:65536   | not between 1 and 65535
                    localhost:999999  | no port
                    :50051            | neither a host name
                    ::1:50051         | without brackets
                    fe80::1           | without brackets
                    [localhost]:50051 | no IPv6 address
                    []:50051          | no IPv6 address
                    local host:50051  | neither a host name
                    http://a:1        | without brackets
                    """)
    void noPlacesToConnectTo(String text, String why) {
        assertThatThrownBy(() -> HostPort.parse(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(why);
    }

    @Test
    void listsKeepTheirOrder() {
        assertThat(HostPort.LIST.parse("b:2,a:1,[::1]:3"))
                .containsExactly(new HostPort("b", 2), new HostPort("a", 1), new HostPort("::1", 3));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",", "a:1,", ",a:1", "a:1,,b:2", "a:1,a:1", "a:1 ,b:2"})
    void noLists(String text) {
        assertRefused(HostPort.LIST, text);
    }

    @Test
    void anEndlessListIsRefusedByItsBound() {
        String text = String.join(",", Collections.nCopies(1025, "x"));

        assertThatThrownBy(() -> Formats.NAMES.parse(text)).hasMessageContainingAll("1025", "1024");
    }

    @Test
    void poolIds() {
        String text = "5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01";

        assertThat(Formats.UUID_TEXT.parse(text)).isEqualTo(UUID.fromString(text));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1-2-3-4-5",
                "00000000-0000-0000-0000-000000000000",
                "5b0c3a527d2c4f0e9d0e2f6f1f6f9a01",
                "5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01 ",
                "gggggggg-7d2c-4f0e-9d0e-2f6f1f6f9a01"
            })
    void noPoolIds(String text) {
        assertRefused(Formats.UUID_TEXT, text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"node-0", "a", "0", "demo-default-0", "Node_1.x"})
    void names(String text) {
        assertThat(Formats.NAME_TEXT.parse(text)).isEqualTo(text);
    }

    @Test
    void namesHaveABound() {
        assertThat(Formats.NAME_TEXT.parse("n".repeat(253))).hasSize(253);
        assertRefused(Formats.NAME_TEXT, "n".repeat(254));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-a", "a-", "a b", "a/b", "a_", "ä", "a\0"})
    void noNames(String text) {
        assertRefused(Formats.NAME_TEXT, text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-0.1", "1.01", "NaN", "90%", "0x1p-1", "1d", "0,9", "1e400"})
    void noRatios(String text) {
        assertRefused(Formats.RATIO, text);
    }

    @Test
    void ratios() {
        assertThat(Formats.RATIO.parse("0.90")).isEqualTo(0.9);
        assertThat(Formats.RATIO.parse("1")).isEqualTo(1.0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "65536", "-1", "50051.0", "x", "99999999999"})
    void noPorts(String text) {
        assertRefused(Formats.PORT, text);
    }

    @Test
    void portZeroIsAnyFreeOneWhereThatMakesSense() {
        assertThat(Formats.PORT_OR_ANY.parse("0")).isZero();
        assertThat(Formats.PORT.parse("65535")).isEqualTo(65535);
    }

    @Test
    void words() {
        Format<Set<Protocol>> protocols = Formats.wordsOf("PROTOCOL", Protocol.class);

        assertThat(protocols.parse("shm,tcp")).containsExactly(Protocol.SHM, Protocol.TCP);
        for (String text : List.of("", "rdma", "shm,", "shm,shm", "SHM")) {
            assertRefused(protocols, text);
        }
        assertThat(protocols.allowed()).contains("tcp or shm");
    }

    @Test
    void pathsAndSwitches() {
        assertThat(Formats.DIRECTORY.parse("/dev/shm/x")).isEqualTo(Path.of("/dev/shm/x"));
        assertRefused(Formats.DIRECTORY, " ");
        assertRefused(Formats.DIRECTORY, "a\0b");
        assertThat(Formats.SWITCH.parse("true")).isTrue();
        assertRefused(Formats.SWITCH, "yes");
    }

    private static void assertRefused(Format<?> format, String text) {
        assertThatThrownBy(() -> format.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
