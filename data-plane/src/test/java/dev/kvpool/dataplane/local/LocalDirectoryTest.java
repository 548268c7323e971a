// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.cli.FailureException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalDirectoryTest {
    private static final UUID FIRST = new UUID(1, 1);
    private static final UUID SECOND = new UUID(2, 2);

    @TempDir
    Path parent;

    @Test
    void aNamedDirectoryIsMadeAndStaysWithItsPoolId() throws Exception {
        Path named = parent.resolve("a/b");
        try (LocalDirectory directory = LocalDirectory.at(named)) {
            directory.prepare(List.of("node-0"));
            assertThat(directory.poolId(Optional.empty(), () -> FIRST)).isEqualTo(FIRST);
        }

        try (LocalDirectory directory = LocalDirectory.at(named)) {
            assertThat(directory.poolId(Optional.empty(), () -> SECOND)).isEqualTo(FIRST);
            assertThat(directory.node("node-0")).isDirectory();
            assertThat(directory.log("node-0").getParent()).isDirectory();
        }
    }

    @Test
    void twoCannotShareADirectory() throws Exception {
        try (LocalDirectory first = LocalDirectory.at(parent)) {
            assertThatThrownBy(() -> LocalDirectory.at(first.path()).close())
                    .isInstanceOf(FailureException.class)
                    .hasMessageContainingAll(parent.toString(), "another kvpool local");
        }
        LocalDirectory.at(parent).close();
    }

    @Test
    void aTemporaryDirectoryGoesWithItsRun() throws Exception {
        Path path;
        try (LocalDirectory directory = LocalDirectory.temporary(parent)) {
            path = directory.path();
            directory.prepare(List.of("node-0"));
            Files.write(directory.node("node-0").resolve("segment-0.kvs"), new byte[10]);
            assertThat(path.getParent()).isEqualTo(parent);
        }

        assertThat(path).doesNotExist();
    }

    @Test
    void leftOversOfDeadRunsAreRemovedButNothingElse() throws Exception {
        Path dead = Files.createDirectories(parent.resolve("kvpool-local-dead"));
        Files.writeString(dead.resolve("lock"), "");
        Files.createDirectories(dead.resolve("node-0"));
        Files.write(dead.resolve("node-0/segment-0.kvs"), new byte[10]);
        Path inTheMaking = Files.createDirectories(parent.resolve("kvpool-local-new"));
        Path foreign = Files.createDirectories(parent.resolve("something-else"));
        Files.writeString(foreign.resolve("lock"), "");

        try (LocalDirectory running = LocalDirectory.temporary(parent);
                LocalDirectory next = LocalDirectory.temporary(parent)) {
            assertThat(dead).doesNotExist();
            assertThat(inTheMaking).exists();
            assertThat(foreign).exists();
            assertThat(running.path()).exists().isNotEqualTo(next.path());
        }
    }

    @Test
    void nodesOfAnEarlierRunThatAreMissingNowAreKnown() throws Exception {
        try (LocalDirectory directory = LocalDirectory.at(parent)) {
            directory.prepare(List.of("node-0", "node-1", "node-2"));

            assertThat(directory.nodesWithout(List.of("node-0"))).containsExactly("node-1", "node-2");
            assertThat(directory.nodesWithout(List.of("node-0", "node-1", "node-2")))
                    .isEmpty();
        }
    }

    @Test
    void aNamedPoolIdIsTakenAndKept() throws Exception {
        try (LocalDirectory directory = LocalDirectory.at(parent)) {
            assertThat(directory.poolId(Optional.of(FIRST), () -> SECOND)).isEqualTo(FIRST);
            assertThat(directory.poolId(Optional.empty(), () -> SECOND)).isEqualTo(FIRST);
            assertThat(directory.poolId(Optional.of(FIRST), () -> SECOND)).isEqualTo(FIRST);
            assertThatThrownBy(() -> directory.poolId(Optional.of(SECOND), () -> SECOND))
                    .isInstanceOf(FailureException.class)
                    .hasMessageContainingAll("holds pool " + FIRST, "--pool-id is " + SECOND);
        }
    }

    @Test
    void aDamagedPoolIdIsNotReplaced() throws Exception {
        Files.writeString(parent.resolve("pool-id"), "not a uuid\n");
        try (LocalDirectory directory = LocalDirectory.at(parent)) {
            assertThatThrownBy(() -> directory.poolId(Optional.empty(), () -> FIRST))
                    .hasMessageContaining("pool-id holds no UUID");
        }
        assertThat(Files.readString(parent.resolve("pool-id"))).isEqualTo("not a uuid\n");
    }

    @Test
    void aFileInTheWayIsNamed() throws IOException {
        Path file = Files.createFile(parent.resolve("file"));

        assertThatThrownBy(() -> LocalDirectory.at(file).close())
                .isInstanceOf(FailureException.class)
                .hasMessageContaining(file.toString());
    }
}
