// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/** Lines of JSON, one object each, as docs/reference/events.md has them. The names of their fields stay. */
public final class EventLines {
    private static final JsonFactory JSON = new JsonFactory();

    private final OutputStream out;
    private final JsonGenerator json;
    private final boolean namesTenants;

    /** @param namesTenants whether objects of other tenants than the default one have theirs beside their key */
    EventLines(OutputStream out, boolean namesTenants) throws IOException {
        this.out = out;
        this.namesTenants = namesTenants;
        json = JSON.createGenerator(out).setRootValueSeparator(null).disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
    }

    /** Nothing but the place: the first line of a stream that goes on, and a sign of life of one that has nothing to say. */
    void mark(String event, Position at) throws IOException {
        begin(event);
        at(at);
        end();
    }

    void snapshotBegins(Position at, List<String> usableNodes) throws IOException {
        begin("snapshot-begin");
        at(at);
        json.writeArrayFieldStart("nodes");
        for (String node : usableNodes) {
            json.writeString(node);
        }
        json.writeEndArray();
        end();
    }

    /** An object of a snapshot; it has no place of its own. */
    void object(Change.Stored object) throws IOException {
        begin("object");
        stored(object);
        end();
    }

    void bye(String reason) throws IOException {
        begin("bye");
        json.writeStringField("reason", reason);
        end();
    }

    void change(Position at, Change change) throws IOException {
        begin(name(change));
        at(at);
        switch (change) {
            case Change.Stored it -> stored(it);
            case Change.Copied it -> {
                object(it.key(), it.id());
                copy(it.copy());
            }
            case Change.Dropped it -> {
                object(it.key(), it.id());
                copy(it.copy());
                cause(it.cause());
            }
            case Change.Removed it -> {
                object(it.key(), it.id());
                cause(it.cause());
            }
            case Change.Purged it -> json.writeStringField("below", it.below().toString());
            case Change.Node it -> {
                json.writeStringField("node", it.id());
                json.writeBooleanField("usable", it.usable());
            }
            case Change.Ended it -> {}
        }
        end();
    }

    void flush() throws IOException {
        json.flush();
        out.flush();
    }

    private static String name(Change change) {
        return change.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    }

    private void begin(String event) throws IOException {
        json.writeStartObject();
        json.writeStringField("event", event);
    }

    private void at(Position position) throws IOException {
        json.writeStringField("at", position.toString());
    }

    private void end() throws IOException {
        json.writeEndObject();
        json.writeRaw('\n');
    }

    private void stored(Change.Stored object) throws IOException {
        object(object.key(), object.id());
        json.writeNumberField("bytes", object.bytes());
        if (object.group() != 0) {
            json.writeStringField("group", "%016x".formatted(object.group()));
        }
        json.writeArrayFieldStart("copies");
        for (Change.Copy copy : object.copies()) {
            json.writeStartObject();
            copy(copy);
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /** The tenant, if it is not the default one, and the key. One that is not text is written in hexadecimal digits, under another name. */
    public static void writeKey(JsonGenerator json, Key qualified, boolean namesTenant) throws IOException {
        if (namesTenant && Tenant.isQualified(qualified)) {
            json.writeStringField("tenant", Tenant.of(qualified).name());
        }
        Key key = Tenant.unqualified(qualified);
        if (key.isValid()) {
            json.writeStringField("key", key.toString());
        } else {
            json.writeStringField("keyHex", HexFormat.of().formatHex(key.bytes()));
        }
    }

    private void object(Key key, ObjectId id) throws IOException {
        writeKey(json, key, namesTenants);
        json.writeStringField("id", id.toString());
    }

    private void copy(Change.Copy copy) throws IOException {
        json.writeStringField("node", copy.node());
        json.writeStringField("tier", copy.inMemory() ? "memory" : "ssd");
    }

    private void cause(Change.Cause cause) throws IOException {
        json.writeStringField("cause", cause.name().toLowerCase(Locale.ROOT));
    }
}
