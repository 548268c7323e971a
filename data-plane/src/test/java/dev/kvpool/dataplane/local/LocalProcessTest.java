// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How local looks after its processes: real processes, killed with real signals, that only pretend to be a pool. */
class LocalProcessTest {
    @TempDir
    Path dir;

    @Test
    void tellsEachStartThenThatItIsReady() throws Exception {
        try (LocalRun local = LocalRun.start(FakePool.class, "--masters", "2", "--storage-nodes", "2")) {
            local.awaitLines("ready ", 1);

            assertThat(local.out())
                    .extracting(line -> line.replaceAll("pid=[0-9]+", "pid=N").replaceAll(" port=[0-9]+", " port=N"))
                    .containsExactly(
                            "started master-0 pid=N port=N",
                            "started master-1 pid=N port=N",
                            "started node-0 pid=N port=N",
                            "started node-1 pid=N port=N",
                            "ready masters=" + local.masters(2));
            assertThat(local.children().values()).hasSize(4).allMatch(ProcessHandle::isAlive);
        }
    }

    @Test
    void sigtermStopsAllAndRemovesTheTemporaryDirectory() throws Exception {
        try (LocalRun local = LocalRun.start(FakePool.class)) {
            local.awaitLines("ready ", 1);
            Map<String, ProcessHandle> children = local.children();
            Path directory = local.dataDirectory();
            assertThat(directory).isDirectory().startsWith(Path.of("/dev/shm"));

            assertThat(local.stop()).isZero();

            assertThat(children.values()).noneMatch(ProcessHandle::isAlive);
            assertThat(directory).doesNotExist();
            assertThat(local.out()).noneMatch(line -> line.startsWith("exited"));
        }
    }

    @Test
    void childrenDieWithAParentThatIsKilledAndTheNextRunTidiesUp() throws Exception {
        Path left;
        try (LocalRun local = LocalRun.start(FakePool.class)) {
            local.awaitLines("ready ", 1);
            Map<String, ProcessHandle> children = local.children();
            left = local.dataDirectory();

            local.killItself();

            await().atMost(LocalRun.PATIENCE)
                    .untilAsserted(() -> assertThat(children.values()).noneMatch(ProcessHandle::isAlive));
            assertThat(left).exists();
        }
        try (LocalRun next = LocalRun.start(FakePool.class)) {
            next.awaitLines("started ", 1);
            assertThat(left).doesNotExist();
        }
    }

    @Test
    void withRestartADeadChildIsStartedAgain() throws Exception {
        try (LocalRun local = LocalRun.start(FakePool.class, "--restart")) {
            local.awaitLines("ready ", 1);
            for (String name : List.of("node-0", "master-0")) {
                long pid = local.children().get(name).pid();

                local.kill(name);
                local.awaitLines("started " + name, 2);

                assertThat(local.out()).contains("exited " + name + " pid=" + pid + " killed by signal 9");
                assertThat(local.children().get(name).pid()).isNotEqualTo(pid);
            }
        }
    }

    @Test
    void withoutRestartItGoesOnWithWhatIsLeftAndSaysSo() throws Exception {
        try (LocalRun local = LocalRun.start(FakePool.class, "--masters", "2")) {
            local.awaitLines("ready ", 1);

            local.kill("master-0");
            local.awaitLines("exited master-0", 1);

            await().atMost(LocalRun.PATIENCE)
                    .untilAsserted(() -> assertThat(local.err()).contains("going on without master-0", "--restart"));
            assertThat(local.children().get("master-1").isAlive()).isTrue();

            local.kill("master-1");
            local.kill("node-0");
            assertThat(local.exitCode()).isEqualTo(1);
            assertThat(local.err()).contains("no process is left");
        }
    }

    @Test
    void aChildThatCannotStartIsShownWithItsLastLines() throws Exception {
        Files.createDirectories(dir.resolve("node-0"));
        Files.createFile(dir.resolve("node-0/fail-at-start"));
        try (LocalRun local = LocalRun.start(FakePool.class, "--data-dir", dir.toString())) {
            assertThat(local.exitCode()).isEqualTo(1);
            assertThat(local.out()).anyMatch(line -> line.matches("exited node-0 pid=[0-9]+ with exit code 1"));
            assertThat(local.err())
                    .contains("node-0 | kvpool node: the segment is on fire")
                    .contains("node-0 did not start")
                    .contains(dir.resolve("logs/node-0.log").toString());
        }
    }

    @Test
    void aSecondLocalOnTheSameDirectoryIsRefused() throws Exception {
        try (LocalRun first = LocalRun.start(FakePool.class, "--data-dir", dir.toString())) {
            first.awaitLines("ready ", 1);
            try (LocalRun second = LocalRun.start(FakePool.class, "--data-dir", dir.toString())) {
                assertThat(second.exitCode()).isEqualTo(1);
                assertThat(second.err()).contains(dir.toString()).contains("another kvpool local");
                assertThat(second.out()).isEmpty();
            }
            assertThat(first.children().values()).allMatch(ProcessHandle::isAlive);
        }
        assertThat(dir.resolve("pool-id")).exists();
    }

    @Test
    void aTakenPortIsToldBeforeAnythingStarts() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                LocalRun local = LocalRun.startOnPort(FakePool.class, taken.getLocalPort())) {
            assertThat(local.exitCode()).isEqualTo(1);
            assertThat(local.err()).contains("port " + taken.getLocalPort()).contains("master-0 (--master-port)");
            assertThat(local.out()).isEmpty();
        }
    }

    @Test
    void segmentsThatCannotFitAreToldBeforeAnythingStarts() throws Exception {
        try (LocalRun local = LocalRun.start(FakePool.class, "--storage-nodes", "4", "--segment-size", "16TiB")) {
            assertThat(local.exitCode()).isEqualTo(1);
            assertThat(local.err()).contains("--segment-size for 4 new nodes needs 64.0 TiB", "has room for");
            assertThat(local.out()).isEmpty();
        }
    }
}
