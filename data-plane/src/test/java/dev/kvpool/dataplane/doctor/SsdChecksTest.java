// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.doctor.CheckResult.Level;
import dev.kvpool.dataplane.doctor.SsdPlace.Kind;
import dev.kvpool.dataplane.machine.MemoryRoom;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SsdChecksTest {
    private static final long GIB = 1L << 30;

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            NOTHING        | false | disk   | PROBLEM | is not there
            SOMETHING_ELSE | true  | disk   | PROBLEM | is neither a directory nor a block device
            BLOCK_DEVICE   | true  | disk   | OK      | is a block device
            BLOCK_DEVICE   | false | disk   | PROBLEM | cannot be written by this user
            DIRECTORY      | false | disk   | PROBLEM | cannot be written by this user
            DIRECTORY      | true  | none   | WARNING | cannot be read
            DIRECTORY      | true  | memory | WARNING | is in memory
            DIRECTORY      | true  | disk   | OK      | has room for 8.0 GiB
            """)
    void eachPlaceHasItsSentence(Kind kind, boolean writable, String where, Level level, String words) {
        Optional<MemoryRoom> room = where.equals("none")
                ? Optional.empty()
                : Optional.of(new MemoryRoom(8 * GIB, "the file system", where.equals("memory")));

        CheckResult finding = SsdChecks.judge(new SsdPlace(Path.of("/mnt/ssd"), kind, writable, room), GIB);

        assertThat(finding.level()).isEqualTo(level);
        assertThat(finding.found()).contains("/mnt/ssd").contains(words);
        assertThat(finding.remedy().isEmpty()).isEqualTo(level == Level.OK);
    }

    @Test
    void aTierThatDoesNotFitIsAProblem() {
        SsdPlace place = new SsdPlace(
                Path.of("/mnt/ssd"), Kind.DIRECTORY, true, Optional.of(new MemoryRoom(GIB, "the file system", false)));

        CheckResult finding = SsdChecks.judge(place, 2 * GIB);

        assertThat(finding.level()).isEqualTo(Level.PROBLEM);
        assertThat(finding.found()).contains("an SSD tier in /mnt/ssd");
        assertThat(finding.remedy()).contains("--ssd-size");
    }

    @Test
    void placesAreReadAsTheyAre(@TempDir Path directory) throws IOException {
        Path file = Files.createFile(directory.resolve("file"));

        assertThat(SsdPlace.at(directory).kind()).isEqualTo(Kind.DIRECTORY);
        assertThat(SsdPlace.at(directory).room()).isPresent();
        assertThat(SsdPlace.at(file).kind()).isEqualTo(Kind.SOMETHING_ELSE);
        assertThat(SsdPlace.at(directory.resolve("nothing")).kind()).isEqualTo(Kind.NOTHING);
        assertThat(SsdPlace.at(Path.of("/dev/null")).kind()).isEqualTo(Kind.SOMETHING_ELSE);
    }
}
