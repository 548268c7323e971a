// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kvpool.dataplane.master.core.base.Action;
import dev.kvpool.dataplane.master.events.EventLines;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;

/** Lines of JSON about evictions, one object each, collected until they are taken. The names of their fields stay. */
final class EvictionLines {
    private final InstantSource clock;
    private final LongSupplier monotonicNs;
    private final ByteArrayOutputStream text = new ByteArrayOutputStream();
    private final JsonGenerator json;
    private int count;

    EvictionLines(InstantSource clock, LongSupplier monotonicNs) {
        this.clock = clock;
        this.monotonicNs = monotonicNs;
        try {
            json = new JsonFactory().createGenerator(text).setRootValueSeparator(null);
        } catch (IOException e) {
            throw inMemory(e);
        }
    }

    void add(Action.Evicted evicted) {
        line(() -> {
            EventLines.writeKey(json, evicted.key(), true);
            json.writeStringField("id", evicted.id().toString());
            json.writeNumberField("bytes", evicted.bytes());
            json.writeArrayFieldStart("nodes");
            for (String node : evicted.nodes()) {
                json.writeString(node);
            }
            json.writeEndArray();
            json.writeNumberField("idleMs", evicted.idleMs());
        });
        count++;
    }

    /** How many evictions are collected. */
    int count() {
        return count;
    }

    /** All that is collected, which is forgotten here. */
    ByteBuffer take() {
        ByteBuffer taken = ByteBuffer.wrap(text.toByteArray());
        text.reset();
        count = 0;
        return taken;
    }

    /** A line that says how many evictions are not written down before it. Nothing must be collected. */
    ByteBuffer missing(long evictions) {
        line(() -> json.writeNumberField("missing", evictions));
        return take();
    }

    private interface Fields {
        void write() throws IOException;
    }

    private void line(Fields fields) {
        try {
            json.writeStartObject();
            json.writeStringField(
                    "time", clock.instant().truncatedTo(ChronoUnit.MILLIS).toString());
            json.writeNumberField("monotonicNs", monotonicNs.getAsLong());
            fields.write();
            json.writeEndObject();
            json.writeRaw('\n');
            json.flush();
        } catch (IOException e) {
            throw inMemory(e);
        }
    }

    private static UncheckedIOException inMemory(IOException e) {
        return new UncheckedIOException("writing to memory cannot fail", e);
    }
}
