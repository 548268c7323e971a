// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An agent of the real library; no master answers, so it goes on looking for one. */
class NativeAgentTest {
    @TempDir
    Path dir;

    @Test
    void listensAndTellsItsState() {
        Path socket = dir.resolve("agent.sock");
        try (NativeAgent agent = NativeAgent.start(parameters("127.0.0.1:1", socket, 4 << 20))) {
            NativeStats stats = agent.stats();

            assertThat(socket).exists();
            assertThat(stats.is("leader_known")).isFalse();
            assertThat(stats.get("clients")).isZero();
            assertThat(stats.get("staging_bytes_max")).isEqualTo(4 << 20);
            assertThat(agent.whyNotReady()).isNotEmpty();
        }
        assertThat(socket).doesNotExist();
    }

    @Test
    void theDefaultOfTheStagingMemoryIsTheLibrarys() {
        try (NativeAgent agent = NativeAgent.start(parameters("127.0.0.1:1", dir.resolve("agent.sock"), 0))) {
            assertThat(agent.stats().get("staging_bytes_max")).isEqualTo(NativeAgent.STAGING_BYTES);
        }
    }

    @Test
    void closingTwiceIsFineAndUseAfterwardsIsTold() {
        NativeAgent agent = NativeAgent.start(parameters("127.0.0.1:1", dir.resolve("agent.sock"), 0));
        agent.close();
        agent.close();

        assertThatThrownBy(agent::stats).extracting("status").isEqualTo(Status.CLOSED);
        assertThatThrownBy(agent::whyNotReady).extracting("status").isEqualTo(Status.CLOSED);
    }

    @Test
    void whatDoesNotDoIsTold() throws IOException {
        assertFails(parameters("nonsense", dir.resolve("agent.sock"), 0), Status.INVALID_ARGUMENT, "nonsense");
        assertFails(parameters("127.0.0.1:1", dir.resolve("x".repeat(120)), 0), Status.INVALID_ARGUMENT, "107");
        assertFails(parameters("127.0.0.1:1", dir.resolve("none/agent.sock"), 0), Status.IO, "none/agent.sock");
        Path file = Files.createFile(dir.resolve("file"));
        assertFails(parameters("127.0.0.1:1", file, 0), Status.IO, "not a socket");
        assertThatThrownBy(() -> NativeAgent.start(parameters("127.0.0.1:1", dir.resolve("agent.sock"), -1)))
                .hasMessageContaining("negative");
    }

    @Test
    void twoAgentsCannotShareASocket() {
        Path socket = dir.resolve("agent.sock");
        try (NativeAgent agent = NativeAgent.start(parameters("127.0.0.1:1", socket, 0))) {
            assertThat(agent.stats().get("clients")).isZero();
            assertFails(parameters("127.0.0.1:1", socket, 0), Status.IO, "another process listens");
        }
    }

    private static void assertFails(AgentParameters parameters, Status status, String text) {
        assertThatThrownBy(() -> NativeAgent.start(parameters))
                .isInstanceOf(KvException.class)
                .hasMessageContaining(text)
                .extracting("status")
                .isEqualTo(status);
    }

    private static AgentParameters parameters(String masters, Path socket, long stagingBytes) {
        return new AgentParameters(
                masters, socket, null, null, stagingBytes, Set.of(), null, null, null, TlsParameters.OFF);
    }
}
