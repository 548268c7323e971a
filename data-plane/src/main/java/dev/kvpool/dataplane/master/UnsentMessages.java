// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.wire.message.Message;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOutboundBuffer;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * What waits to be sent to peers that are slow to read, or do not read at all. It is memory of the master, so it is bounded, and not for each
 * connection alone: there may be thousands. Members of the pool and all others have bounds of their own, so that no engine can have a storage node
 * thrown out, nor a storage node an engine. Used on the event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it, and the pipeline hears of that
final class UnsentMessages {
    /** As soon as more waits nothing more is read from a peer that is no member, until half of it is sent: what it asks only makes more. */
    static final int READ_BYTES_MAX = 1 << 20;

    static final int CONNECTION_BYTES_MAX = 64 << 20;
    static final int MEMBERS_BYTES_MAX = 128 << 20;
    static final int OTHERS_BYTES_MAX = 64 << 20;

    private final Share members = new Share(MEMBERS_BYTES_MAX);
    private final Share others = new Share(OTHERS_BYTES_MAX);

    /** One connection. */
    static final class Peer {
        private final Channel channel;
        private final Share share;
        private long bytes;

        private Peer(Channel channel, Share share) {
            this.channel = channel;
            this.share = share;
        }

        Channel channel() {
            return channel;
        }

        boolean hasTooMuch() {
            return bytes > CONNECTION_BYTES_MAX;
        }

        /** Its answers are not read; TLS would wait for them to be sent before it closes. */
        boolean isSlow() {
            return bytes > READ_BYTES_MAX;
        }

        private void add(long more) {
            bytes += more;
            share.bytes += more;
        }
    }

    /** Of some connections together. */
    private static final class Share {
        private final long bytesMax;
        private final Set<Peer> peers = new HashSet<>();
        private long bytes;

        private Share(long bytesMax) {
            this.bytesMax = bytesMax;
        }

        private boolean isExceeded() {
            return bytes > bytesMax;
        }

        private void remove(Peer peer) {
            if (peers.remove(peer)) {
                peer.add(-peer.bytes);
            }
        }
    }

    /** A connection counts until it is closed, not only until its session has ended: TLS closes it some time later. */
    Peer open(Channel channel, boolean isMember) {
        Peer peer = new Peer(channel, isMember ? members : others);
        peer.share.peers.add(peer);
        channel.closeFuture().addListener(_ -> peer.share.remove(peer));
        return peer;
    }

    /** Puts a message behind those that wait; it is sent with the next flush. */
    ChannelFuture write(Peer peer, Message message) {
        long before = waiting(peer.channel);
        ChannelFuture written = peer.channel.write(message);
        long bytes = Math.max(0, waiting(peer.channel) - before);
        peer.add(bytes);
        written.addListener(_ -> {
            if (peer.share.peers.contains(peer)) {
                peer.add(-bytes);
            }
        });
        if (peer.share == others && !peer.channel.isWritable()) {
            peer.channel.config().setAutoRead(false);
        }
        return written;
    }

    private static long waiting(Channel channel) {
        ChannelOutboundBuffer buffer = channel.unsafe().outboundBuffer();
        return buffer == null ? 0 : buffer.totalPendingWriteBytes();
    }

    boolean isTooMuch() {
        return members.isExceeded() || others.isExceeded();
    }

    /** The connection to which most waits of those that together let too much wait. It counts no more: it is to be closed. */
    Optional<Peer> takeWorst() {
        Share share = others.isExceeded() ? others : members;
        if (!share.isExceeded()) {
            return Optional.empty();
        }
        Optional<Peer> worst = share.peers.stream().max(Comparator.comparingLong(peer -> peer.bytes));
        worst.ifPresent(share::remove);
        return worst;
    }
}
