// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.doctor.NodeAnswer.Outcome;
import dev.kvpool.dataplane.doctor.NodeAnswer.Way;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Answer;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Visits all storage nodes that are there, many at a time and within a bound, each by every way that it offers here. */
final class NodeVisits {
    /** Sockets at a time, well below what a process may have open. */
    private static final int AT_A_TIME = 200;

    private final PeerVisit visit;
    private final String bootId;
    private final Duration atMost;

    /**
     * @param bootId of this machine; empty when it could not be read, and then nobody is on it
     * @param atMost for all visits together; who has not answered by then is silent
     */
    NodeVisits(PeerVisit visit, String bootId, Duration atMost) {
        this.visit = visit;
        this.bootId = bootId;
        this.atMost = atMost;
    }

    /** In the order of the map; nodes that are not there are left out. */
    List<NodeAnswer> visit(PoolMap pool) throws InterruptedException {
        Semaphore sockets = new Semaphore(AT_A_TIME);
        List<StorageNode> nodes =
                pool.nodes().stream().filter(StorageNode::isThere).toList();
        ExecutorService visitors = Executors.newVirtualThreadPerTaskExecutor();
        try {
            List<Future<Outcome>> byTcp = new ArrayList<>();
            List<Future<Outcome>> bySocket = new ArrayList<>();
            for (StorageNode node : nodes) {
                byTcp.add(visitors.submit(() -> holding(sockets, () -> tcp(pool.poolId(), node))));
                bySocket.add(visitors.submit(() -> holding(sockets, () -> sharedMemory(pool.poolId(), node))));
            }
            long deadline = System.nanoTime() + atMost.toNanos();
            List<NodeAnswer> answers = new ArrayList<>();
            for (int i = 0; i < nodes.size(); i++) {
                answers.add(
                        new NodeAnswer(nodes.get(i), await(byTcp.get(i), deadline), await(bySocket.get(i), deadline)));
            }
            return answers;
        } finally {
            visitors.shutdownNow(); // a look-up of a name may hang on; its thread keeps nobody from leaving
        }
    }

    private static Outcome holding(Semaphore sockets, Supplier<Outcome> attempt) throws InterruptedException {
        sockets.acquire();
        try {
            return attempt.get();
        } finally {
            sockets.release();
        }
    }

    private Outcome await(Future<Outcome> outcome, long deadline) throws InterruptedException {
        try {
            return outcome.get(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            throw new IllegalStateException("a visit to a storage node failed", e.getCause());
        } catch (CancellationException | TimeoutException e) {
            return Outcome.of(Way.SILENT, "no answer within " + atMost.toSeconds() + " s");
        }
    }

    private Outcome tcp(UUID poolId, StorageNode node) {
        HostPort address;
        try {
            address = HostPort.parse(node.address());
        } catch (IllegalArgumentException e) {
            return Outcome.of(Way.UNKNOWN_NAME, e.getMessage());
        }
        PeerAnswer answer = visit.node(address, poolId, node.incarnation());
        return answer.answer()
                .map(given -> judge(given, node, answer.took()))
                .orElseGet(() -> Outcome.of(wayOf(answer.failure()), answer.failure()));
    }

    private Outcome sharedMemory(UUID poolId, StorageNode node) {
        Optional<String> socket = node.socketOn(bootId);
        if (socket.isEmpty()) {
            return Outcome.NOT_TRIED;
        }
        long began = System.nanoTime();
        try {
            Path path = Path.of(socket.get());
            if (Files.notExists(path)) {
                return Outcome.of(Way.MISSING, "");
            }
            Answer answer = visit.sharedMemory(path, poolId, node.incarnation());
            return judge(answer, node, Duration.ofNanos(System.nanoTime() - began));
        } catch (IOException | InvalidPathException e) {
            String why = e.getMessage() == null ? e.toString() : e.getMessage();
            return Outcome.of(wayOf(why), why);
        }
    }

    private static Outcome judge(Answer answer, StorageNode node, Duration took) {
        return switch (answer) {
            case Welcome welcome -> Outcome.of(welcome, node, took);
            case Refused refused -> Outcome.of(refused, took);
        };
    }

    /** Java has no types for these, only the kernel's words. */
    private static Way wayOf(String failure) {
        String words = failure.toLowerCase(Locale.ROOT);
        if (words.contains("name is not known")) {
            return Way.UNKNOWN_NAME;
        }
        if (words.contains("refused")) {
            return Way.REFUSED;
        }
        if (words.contains("denied") || words.contains("not permitted")) {
            return Way.FORBIDDEN;
        }
        return words.contains("not from kvpool") || words.contains("no answer to a hello")
                ? Way.SOMEBODY_ELSE
                : Way.SILENT;
    }
}
