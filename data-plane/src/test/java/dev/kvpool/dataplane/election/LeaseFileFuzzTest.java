// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.election.LeaseStore.Stored;
import dev.kvpool.dataplane.fuzz.FuzzRuns;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lease files with anything in them; as {@link FuzzRuns} says. */
class LeaseFileFuzzTest {
    private static final Instant TIME = Instant.parse("2026-01-02T03:04:05.678901Z");

    @TempDir
    Path directory;

    @Test
    void aFileIsReadOrRefusedAndWhatWasReadCanBeReplaced() throws Exception {
        Path file = directory.resolve("lease");
        FileLeaseStore store = new FileLeaseStore(file);
        LeaseRecord next = new LeaseRecord("b_2", 5, TIME, TIME, 8);

        int count = new FuzzRuns(samples(store, file), LeaseStoreException.class)
                .oneOf(50)
                .allocating(256)
                .run(input -> {
                    Files.write(file, input);
                    Stored read = store.read().orElseThrow();
                    if (read.lease().transitions() < 0 || read.lease().holder() == null) {
                        throw new AssertionError("no Lease: " + read);
                    }
                    Optional<Stored> written = store.update(next, read.version());
                    if (!store.read().equals(written) || written.isEmpty()) {
                        throw new AssertionError("version " + read.version() + " cannot be replaced");
                    }
                });

        assertThat(count).isPositive();
    }

    private static List<byte[]> samples(FileLeaseStore store, Path file) throws Exception {
        List<byte[]> samples = new ArrayList<>();
        Stored stored = store.create(new LeaseRecord("m-0_00000000000000ff", 5, TIME, TIME, 7))
                .orElseThrow();
        samples.add(Files.readAllBytes(file));
        store.update(new LeaseRecord("", 1, TIME, TIME, Integer.MAX_VALUE), stored.version());
        samples.add(Files.readAllBytes(file));
        for (String piece : List.of(
                "99999999999999999999", "-1", "1e9", "null", "[[[[[[[[", "{\"spec\":", "+1000000000-12-31T23:59:59Z")) {
            samples.add(piece.getBytes(StandardCharsets.UTF_8));
        }
        return samples;
    }
}
