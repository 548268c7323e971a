// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import dev.kvpool.dataplane.sim.nativecore.NativeMemory;
import dev.kvpool.dataplane.sim.nativecore.SegmentMemory;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.HandshakeMessage;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Hello;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.MessageHeaderDecoder;
import dev.kvpool.wire.Role;
import dev.kvpool.wire.WelcomeDecoder;
import dev.kvpool.wire.WriteReplyDecoder;
import dev.kvpool.wire.WriteRequestDecoder;
import dev.kvpool.wire.WriteSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A client of a tenant of its own, which sees what others ask nodes to write, as one does that broke their encryption, and shows each grant as if it
 * were its own, with other bytes. No node takes one.
 */
final class SimThief extends SimProcess {
    private static final long REDIAL_MS = 500;
    private static final int LOOT_BYTES = 1 << 20;

    private final UUID pool;
    private final Tally tally;
    private final List<SimNode> nodes;
    private final MessageBytes codec = new MessageBytes();
    private final SegmentMemory loot = new SegmentMemory(LOOT_BYTES);
    private final Map<String, End> ends = new TreeMap<>();
    private final Map<String, End> welcome = new TreeMap<>();

    SimThief(Network network, UUID pool, Tally tally, List<SimNode> nodes) {
        super(network, "thief");
        this.pool = pool;
        this.tally = tally;
        this.nodes = nodes;
        byte[] bytes = new byte[LOOT_BYTES];
        Arrays.fill(bytes, (byte) '$');
        NativeMemory.write(loot.address(), bytes);
        network.tap(this::overheard);
    }

    @Override
    Optional<String> certified() {
        return Optional.of("tenant/thief/rw/" + name);
    }

    /** Gives the memory of this simulation back. */
    void release() {
        loot.close();
    }

    @Override
    void begin() {
        for (SimNode node : nodes) {
            if (!ends.containsKey(node.name)) {
                ends.put(node.name, network.dial(this, node.address));
            }
        }
        in(REDIAL_MS, this::begin);
    }

    @Override
    void end() {
        ends.clear();
        welcome.clear();
    }

    private void overheard(End from, byte[] body) {
        if (hears()
                && from.owner instanceof SimClient
                && from.peer().owner instanceof SimNode node
                && template(body) == WriteRequestDecoder.TEMPLATE_ID) {
            WriteRequestDecoder request =
                    new WriteRequestDecoder().wrapAndApplyHeader(new UnsafeBuffer(body), 0, new MessageHeaderDecoder());
            long length = request.payloadLength();
            if (request.source() == WriteSource.INLINE && length <= LOOT_BYTES) {
                in(0, () -> show(node, body, length));
            }
        }
    }

    private void show(SimNode node, byte[] request, long length) {
        End end = welcome.get(node.name);
        if (end != null) {
            tally.count("stolen grants shown");
            end.send(request);
            end.sendPayload(loot.address(), length, () -> {});
        }
    }

    private static int template(byte[] body) {
        return new MessageHeaderDecoder().wrap(new UnsafeBuffer(body), 0).templateId();
    }

    // ---- what happened --------------------------------------------------------------------------------------------

    @Override
    void accepted(End end) {
        throw new AssertionError("a thief has no port");
    }

    @Override
    void opened(End end) {
        end.send(
                codec.encode(new Hello(HandshakeMessage.MAGIC, Role.CLIENT, pool, 1, 0, Versions.ofThisBuild(), name)));
    }

    @Override
    void dialFailed(End end, String reason, boolean refused) {
        closed(end, reason);
    }

    @Override
    void closed(End end, String reason) {
        ends.values().remove(end);
        welcome.values().remove(end);
    }

    @Override
    void frame(End end, byte[] body) {
        switch (template(body)) {
            case WelcomeDecoder.TEMPLATE_ID -> welcome.put(end.peer().owner.name, end);
            case WriteReplyDecoder.TEMPLATE_ID -> {
                int status = new WriteReplyDecoder()
                        .wrapAndApplyHeader(new UnsafeBuffer(body), 0, new MessageHeaderDecoder())
                        .status();
                Violation.unless(
                        status != Status.OK.code(),
                        "stolen grant",
                        "%s has written what a thief sent",
                        end.peer().owner);
                if (status == Status.NOT_PERMITTED.code()) {
                    tally.count("stolen grants refused");
                }
            }
            default -> {}
        }
    }

    @Override
    void payload(End end, byte[] bytes, long at, boolean last, int crc) {}
}
