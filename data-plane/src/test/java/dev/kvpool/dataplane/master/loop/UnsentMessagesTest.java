// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.nativelib.Status;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which connections pay for it that much waits to be sent. */
@SuppressWarnings("FutureReturnValueIgnored") // they are embedded channels
class UnsentMessagesTest {
    private static final byte[] BYTES = new byte[UnsentMessages.READ_BYTES_MAX];

    private final UnsentMessages unsent = new UnsentMessages();
    private final List<EmbeddedChannel> channels = new ArrayList<>();

    @AfterEach
    void close() {
        channels.forEach(EmbeddedChannel::close);
    }

    private UnsentMessages.Peer open(String principal) {
        EmbeddedChannel channel = new EmbeddedChannel();
        channels.add(channel);
        return unsent.open(channel, false, principal, principal);
    }

    private void answer(UnsentMessages.Peer peer, int bytes) {
        EmbeddedChannel channel = (EmbeddedChannel) peer.channel();
        channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
                context.write(Unpooled.wrappedBuffer(BYTES, 0, bytes), promise);
            }
        });
        var _ = unsent.write(peer, new ExistsReply(1, Status.OK, List.of()));
        channel.pipeline().removeFirst();
    }

    private List<UnsentMessages.Peer> takeAll() {
        List<UnsentMessages.Peer> taken = new ArrayList<>();
        for (Optional<UnsentMessages.Peer> worst = unsent.takeWorst(); worst.isPresent(); worst = unsent.takeWorst()) {
            taken.add(worst.get());
        }
        return taken;
    }

    @Test
    void whoLetsMuchWaitOnManyConnectionsPaysBeforeWhoHasOne() {
        UnsentMessages.Peer honest = open("honest");
        answer(honest, UnsentMessages.READ_BYTES_MAX / 2);
        List<UnsentMessages.Peer> hostile = new ArrayList<>();
        while (!unsent.isTooMuch()) {
            hostile.add(open("hostile"));
            answer(hostile.getLast(), 16 << 10);
        }
        assertThat(takeAll()).hasSize(1).isSubsetOf(hostile);
    }
}
