// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A page of docs/reference that a test computes; {@code -Ddocs.update=true} writes it. */
public final class GeneratedDocument {
    private GeneratedDocument() {}

    /** Fails when the committed page of this name is not this text. */
    public static void assertCurrent(String name, String current) throws IOException {
        Path document = Path.of("../docs/reference").resolve(name);
        if (Boolean.getBoolean("docs.update")) {
            Files.writeString(document, current);
        }
        assertThat(Files.readString(document))
                .as("%s is stale; -Ddocs.update=true writes it again", document)
                .isEqualTo(current);
    }
}
