// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.election.LeaseStore.Stored;
import dev.kvpool.dataplane.register.Register;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileLeaseStoreTest {
    private static final Instant TIME = Instant.parse("2026-01-02T03:04:05.678901Z");

    @TempDir
    Path directory;

    @Test
    void whatWasWrittenIsRead() throws Exception {
        FileLeaseStore store = new FileLeaseStore(directory.resolve("lease"));
        assertThat(store.read()).isEmpty();

        LeaseRecord first = new LeaseRecord("a_1", 5, TIME, TIME, 7);
        Stored created = store.create(first).orElseThrow();
        Register register = Register.NONE.enrolled(Set.of("node-0")).as(3);
        LeaseRecord second = new LeaseRecord("", 1, TIME, TIME.plusSeconds(1), 7, register);
        assertThat(store.update(second, created.version())).isPresent();

        assertThat(created.lease()).isEqualTo(first);
        assertThat(store.read().map(Stored::lease)).contains(second);
    }

    @Test
    void anUpdateOfAnOldVersionChangesNothing() throws Exception {
        FileLeaseStore store = new FileLeaseStore(directory.resolve("lease"));
        LeaseRecord lease = new LeaseRecord("a_1", 5, TIME, TIME, 1);
        Stored old = store.create(lease).orElseThrow();
        Stored now = store.update(lease, old.version()).orElseThrow();

        assertThat(store.update(new LeaseRecord("b_2", 5, TIME, TIME, 2), old.version()))
                .isEmpty();
        assertThat(store.create(lease)).isEmpty();
        assertThat(store.read()).contains(now);
    }

    @Test
    void ofManyThatTakeItAtTheSameTimeOneWins() throws Exception {
        Path file = directory.resolve("lease");
        Stored start = new FileLeaseStore(file)
                .create(new LeaseRecord("", 1, TIME, TIME, 0))
                .orElseThrow();
        List<Callable<Optional<Stored>>> tries = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            LeaseRecord mine = new LeaseRecord("m" + i + "_1", 5, TIME, TIME, 1);
            tries.add(() -> new FileLeaseStore(file).update(mine, start.version()));
        }
        int won = 0;
        try (ExecutorService threads = Executors.newFixedThreadPool(8)) {
            for (Future<Optional<Stored>> result : threads.invokeAll(tries)) {
                won += result.get().isPresent() ? 1 : 0;
            }
        }

        assertThat(won).isEqualTo(1);
    }

    @Test
    void aFileThatHoldsNoLeaseIsReportedWithAWayOut() throws Exception {
        Path file = directory.resolve("lease");
        FileLeaseStore store = new FileLeaseStore(file);
        List<String> contents = List.of(
                "",
                "null",
                "not json",
                "{\"resourceVersion\":\"x\",\"spec\":{}}",
                "{\"resourceVersion\":\"1\",\"spec\":{\"holderIdentity\":\"a\",\"leaseDurationSeconds\":5,"
                        + "\"acquireTime\":\"yesterday\",\"renewTime\":\"today\",\"leaseTransitions\":1}}",
                "{\"resourceVersion\":\"1\",\"spec\":{\"holderIdentity\":\"a\",\"leaseDurationSeconds\":5,"
                        + "\"acquireTime\":\"" + TIME + "\",\"renewTime\":\"" + TIME
                        + "\",\"leaseTransitions\":-1}}");
        for (String content : contents) {
            Files.writeString(file, content);

            assertThatThrownBy(store::read)
                    .as(content)
                    .isInstanceOf(LeaseStoreException.class)
                    .hasMessageContaining("holds no Lease; remove it");
        }
    }

    @Test
    void aDirectoryThatIsMissingIsNamed() {
        FileLeaseStore store = new FileLeaseStore(directory.resolve("nowhere/lease"));

        assertThatThrownBy(() -> store.create(new LeaseRecord("a_1", 5, TIME, TIME, 1)))
                .isInstanceOf(LeaseStoreException.class)
                .hasMessageContaining("nowhere");
    }
}
