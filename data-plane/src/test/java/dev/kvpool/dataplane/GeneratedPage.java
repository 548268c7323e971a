// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A page of docs/reference that a test computes; {@code -Ddocs.update=true} writes it. */
public final class GeneratedPage {
    private GeneratedPage() {}

    /** Fails when the committed page of this name is not this text. */
    public static void assertCurrent(String name, String current) throws IOException {
        Path page = Path.of("../docs/reference").resolve(name);
        if (Boolean.getBoolean("docs.update")) {
            Files.writeString(page, current);
        }
        assertThat(Files.readString(page))
                .as("%s is stale; -Ddocs.update=true writes it again", page)
                .isEqualTo(current);
    }
}
