// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.loop;

import dev.kvpool.dataplane.wire.message.Message;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOutboundBuffer;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What waits to be sent to peers that are slow to read, or do not read at all. It is memory of the master, so it is bounded, and not for each
 * connection alone: there may be thousands. Members of the pool and all others have bounds of their own, so that no engine can have a storage node
 * thrown out, nor a storage node an engine. Used on the event loop.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel closes it, and the pipeline hears of that
public final class UnsentMessages {
    /** As soon as more waits nothing more is read from a peer that is no member, until half of it is sent: what it asks only makes more. */
    public static final int READ_BYTES_MAX = 1 << 20;

    public static final int CONNECTION_BYTES_MAX = 64 << 20;
    static final int MEMBERS_BYTES_MAX = 128 << 20;
    public static final int OTHERS_BYTES_MAX = 64 << 20;

    private final Share members = new Share(MEMBERS_BYTES_MAX);
    private final Share others = new Share(OTHERS_BYTES_MAX);

    /** One connection. */
    static final class Peer {
        private final Channel channel;
        private final Principal principal;
        private final String process;
        private long bytes;

        private Peer(Channel channel, Principal principal, String process) {
            this.channel = channel;
            this.principal = principal;
            this.process = process;
        }

        Channel channel() {
            return channel;
        }

        /** What the connections of one peer have in common. */
        String principal() {
            return principal.name;
        }

        /** What tells its process from others of the same name. */
        String process() {
            return process;
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
            principal.bytes += more;
            principal.share.bytes += more;
        }
    }

    /** The connections of one peer, as far as can be told. */
    private static final class Principal {
        private final String name;
        private final Share share;
        private final Set<Peer> peers = new HashSet<>();
        private long bytes;

        private Principal(String name, Share share) {
            this.name = name;
            this.share = share;
        }

        private boolean counts(Peer peer) {
            return peers.contains(peer);
        }

        private void remove(Peer peer) {
            if (peers.remove(peer)) {
                peer.add(-peer.bytes);
            }
            if (peers.isEmpty()) {
                share.principals.remove(name, this);
            }
        }
    }

    /** Of some peers together. */
    private static final class Share {
        private final Map<String, Principal> principals = new HashMap<>();
        private final long bytesMax;
        private long bytes;

        private Share(long bytesMax) {
            this.bytesMax = bytesMax;
        }

        private boolean isExceeded() {
            return bytes > bytesMax;
        }

        /** To whose connections together most waits. */
        private Principal worst() {
            return principals.values().stream()
                    .max(Comparator.comparingLong(principal -> principal.bytes))
                    .orElseThrow();
        }
    }

    /**
     * A connection counts until it is closed, not only until its session has ended: TLS closes it some time later.
     *
     * @param isMember whether it is of a storage node or master of the pool
     * @param principal what the connections of one peer have in common: the name in its certificate, or its address
     * @param process what its process is known by, see {@link Peer#process}
     */
    Peer open(Channel channel, boolean isMember, String principal, String process) {
        Share share = isMember ? members : others;
        Principal whose = share.principals.computeIfAbsent(principal, name -> new Principal(name, share));
        Peer peer = new Peer(channel, whose, process);
        whose.peers.add(peer);
        channel.closeFuture().addListener(_ -> whose.remove(peer));
        return peer;
    }

    /** Puts a message behind those that wait; it is sent with the next flush. */
    ChannelFuture write(Peer peer, Message message) {
        long before = waiting(peer.channel);
        ChannelFuture written = peer.channel.write(message);
        long bytes = Math.max(0, waiting(peer.channel) - before);
        peer.add(bytes);
        written.addListener(_ -> {
            if (peer.principal.counts(peer)) {
                peer.add(-bytes);
            }
        });
        if (peer.principal.share == others && !peer.channel.isWritable()) {
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

    /**
     * Of those that together let too much wait: the connection to which most waits of the one to whose connections most waits. It counts
     * no more: it is to be closed.
     */
    Optional<Peer> takeWorst() {
        Share share = others.isExceeded() ? others : members;
        if (!share.isExceeded()) {
            return Optional.empty();
        }
        Principal principal = share.worst();
        Peer worst = Collections.max(principal.peers, Comparator.comparingLong(peer -> peer.bytes));
        principal.remove(worst);
        return Optional.of(worst);
    }
}
