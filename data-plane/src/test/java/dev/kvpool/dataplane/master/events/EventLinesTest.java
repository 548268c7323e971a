// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.Change.Copy;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.io.ByteArrayOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventLinesTest {
    @Test
    void eachKindHasItsLine() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        EventLines lines = new EventLines(out, true);
        Position at = new Position(new Authority(7, 0xabc), 3);
        Key key = Key.of("a\"ä");
        ObjectId id = new ObjectId(7, 5);
        Copy memory = new Copy("n0", true);
        Change.Stored stored = new Change.Stored(key, id, 10, 0x1f, List.of(memory, new Copy("n0", false)));

        lines.snapshotBegins(at, List.of("n0", "n1"));
        lines.object(stored);
        lines.mark("snapshot-end", at);
        lines.change(at, new Change.Stored(Key.of(new byte[] {(byte) 0xff}), id, 10, 0, List.of(memory)));
        lines.change(at, new Change.Removed(Tenant.of("chat").qualify(key), id, Cause.REMOVED));
        lines.change(at, new Change.Copied(key, id, memory));
        lines.change(at, new Change.Dropped(key, id, memory, Cause.MOVED));
        lines.change(at, new Change.Removed(key, id, Cause.EVICTED));
        lines.change(at, new Change.Purged(id));
        lines.change(at, new Change.Node("n1", false));
        lines.bye("too slow");
        lines.flush();

        String place = "\"at\":\"7.0000000000000abc.3\"";
        assertThat(out.toString(UTF_8).lines())
                .containsExactly(
                        "{\"event\":\"snapshot-begin\"," + place + ",\"nodes\":[\"n0\",\"n1\"]}",
                        "{\"event\":\"object\",\"key\":\"a\\\"ä\",\"id\":\"7.5\",\"bytes\":10,\"group\":\"000000000000001f\","
                                + "\"copies\":[{\"node\":\"n0\",\"tier\":\"memory\"},{\"node\":\"n0\",\"tier\":\"ssd\"}]}",
                        "{\"event\":\"snapshot-end\"," + place + "}",
                        "{\"event\":\"stored\"," + place + ",\"keyHex\":\"ff\",\"id\":\"7.5\",\"bytes\":10,"
                                + "\"copies\":[{\"node\":\"n0\",\"tier\":\"memory\"}]}",
                        "{\"event\":\"removed\"," + place
                                + ",\"tenant\":\"chat\",\"key\":\"a\\\"ä\",\"id\":\"7.5\",\"cause\":\"removed\"}",
                        "{\"event\":\"copied\"," + place
                                + ",\"key\":\"a\\\"ä\",\"id\":\"7.5\",\"node\":\"n0\",\"tier\":\"memory\"}",
                        "{\"event\":\"dropped\"," + place
                                + ",\"key\":\"a\\\"ä\",\"id\":\"7.5\",\"node\":\"n0\",\"tier\":\"memory\",\"cause\":\"moved\"}",
                        "{\"event\":\"removed\"," + place + ",\"key\":\"a\\\"ä\",\"id\":\"7.5\",\"cause\":\"evicted\"}",
                        "{\"event\":\"purged\"," + place + ",\"below\":\"7.5\"}",
                        "{\"event\":\"node\"," + place + ",\"node\":\"n1\",\"usable\":false}",
                        "{\"event\":\"bye\",\"reason\":\"too slow\"}");
    }
}
