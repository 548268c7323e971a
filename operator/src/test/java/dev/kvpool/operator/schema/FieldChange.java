// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.schema;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * A row of the tables in field-changes: two specs that the API server takes and that differ in one field.
 *
 * @param field its path, as in {@link SchemaFields}
 */
public record FieldChange(String field, SpecDocument before, SpecDocument after) {
    private static final Path TABLES = Path.of("src/test/resources/field-changes");
    private static final String SEPARATOR = " [|] ";

    /** A kind of the API: the file of its CRD, its table, and the smallest spec it can have. */
    public enum Kind {
        POOL("KvCachePool", "kvcachepools.kvpool.dev.yaml", "pool.csv", "{storage: [{name: a, capacity: 1Gi}]}"),
        ENGINE("TransferEngine", "transferengines.kvpool.dev.yaml", "engine.csv", "{}");

        private final String title;
        private final String crd;
        private final String table;
        private final String smallest;

        Kind(String title, String crd, String table, String smallest) {
            this.title = title;
            this.crd = crd;
            this.table = table;
            this.smallest = smallest;
        }

        /** As in YAML. */
        public String title() {
            return title;
        }

        public String crd() {
            return crd;
        }

        /** The rows of its table, in their order. */
        public List<FieldChange> changes() {
            try {
                return Files.readAllLines(TABLES.resolve(table)).stream()
                        .map(row -> row.split(SEPARATOR, -1))
                        .map(cells -> new FieldChange(cells[0].strip(), whole(cells[1]), whole(cells[2])))
                        .toList();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** A spec with what it may not lack. */
        private SpecDocument whole(String spec) {
            return SpecDocument.of(spec).withDefaults(SpecDocument.of(smallest));
        }
    }

    @Override
    public String toString() {
        return field;
    }

    /** Whether the API server takes the field with the value after the change only: with the other one it refuses what is beside it. */
    public boolean isRefusedBefore() {
        return field.equals("spec.security.certificates.source");
    }
}
