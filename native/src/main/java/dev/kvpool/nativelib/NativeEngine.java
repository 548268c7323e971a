// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A transfer engine of libkvpool: writes to and reads from memory that other engines have registered, and serves them
 * likewise. Safe for use by many threads; every method but {@link #close} throws KV_CLOSED after closing.
 *
 * <p>Memory is off-heap and the caller's: what is registered stays alive until it is unregistered, what is transferred
 * until the call returns, or until the {@link TransferBatch} that it returns is over.
 */
public final class NativeEngine implements AutoCloseable {
    public static final int PORT_MIN = 15000;
    public static final int PORT_MAX = 17000;
    public static final int REGIONS_MAX = 16384;
    public static final int NOTIFIES_MAX = 4096;
    public static final int NOTIFY_NAME_BYTES_MAX = 253;
    public static final int NOTIFY_BYTES_MAX = 4096;

    private static final int WAIT_SLICE_MS = 100;
    private static final int TEXT_BYTES = 1024;

    private final KvLibrary library;
    private final NativeHandle handle;

    private NativeEngine(KvLibrary library, NativeHandle handle) {
        this.library = library;
        this.handle = handle;
    }

    /**
     * Listens on a free port of the range and starts.
     *
     * @throws KvException with the library's sentence when no port is free or no protocol of the list works here
     */
    public static NativeEngine start(EngineParameters parameters) {
        return start(LoadedLibrary.get(), parameters);
    }

    static NativeEngine start(KvLibrary library, EngineParameters parameters) {
        try (Arena arena = Arena.ofConfined()) {
            Struct struct = new Struct(arena, Layouts.ENGINE_PARAMS);
            parameters.writeTo(struct);
            MemorySegment out = arena.allocate(JAVA_LONG);
            ErrorText error = new ErrorText(arena);
            int status = library.engineCreate(struct.address(), out.address(), error.address(), error.size());
            if (status != Status.OK.code()) {
                throw error.exception("cannot start a transfer engine", status);
            }
            return new NativeEngine(
                    library, new NativeHandle("transfer engine", out.get(JAVA_LONG, 0), library::engineDestroy));
        }
    }

    /** Lets peers use this native memory: all of it, or with an exception none. Regions must not overlap. */
    public void register(Collection<MemorySegment> memory) {
        withRegions(
                memory,
                "cannot register memory",
                (engine, regions, count) -> library.engineRegister(engine, regions, count, 0));
    }

    /** Takes regions back, named by where they begin. No peer uses that memory any more when this returns. */
    public void unregister(Collection<MemorySegment> memory) {
        withRegions(memory, "cannot unregister memory", library::engineUnregister);
    }

    /**
     * Writes local memory to that of peers; what became of each line, in their order. Lines to a peer that was
     * connected within the last 30 s and is gone wait until the timeout for it to come back, any other that cannot be
     * reached is CONNECT_FAILED at once.
     */
    public List<Status> write(List<Transfer> lines, Duration timeout) {
        return run(TransferOp.WRITE, lines, Optional.empty(), timeout);
    }

    /** Like write; each peer is told once all of its lines are done. */
    public List<Status> write(List<Transfer> lines, Notification notification, Duration timeout) {
        return run(TransferOp.WRITE, lines, Optional.of(notification), timeout);
    }

    /** Reads memory of peers to local memory; what became of each line, in their order. */
    public List<Status> read(List<Transfer> lines, Duration timeout) {
        return run(TransferOp.READ, lines, Optional.empty(), timeout);
    }

    /** Like write, without waiting for the end. */
    public TransferBatch submitWrite(List<Transfer> lines, Duration timeout) {
        return begin(TransferOp.WRITE, lines, Optional.empty(), timeout);
    }

    /** Like write with a notification, without waiting for the end. */
    public TransferBatch submitWrite(List<Transfer> lines, Notification notification, Duration timeout) {
        return begin(TransferOp.WRITE, lines, Optional.of(notification), timeout);
    }

    /** Like read, without waiting for the end. */
    public TransferBatch submitRead(List<Transfer> lines, Duration timeout) {
        return begin(TransferOp.READ, lines, Optional.empty(), timeout);
    }

    /** OK when a transfer engine answers at {@code HOST:PORT} now; one that is gone is not waited for. */
    public Status probe(String peer, Duration timeout) {
        return run(TransferOp.PROBE, List.of(new Transfer(peer, MemorySegment.NULL, 0)), Optional.empty(), timeout)
                .getFirst();
    }

    /** The next notification of a peer in order of arrival; empty when none waits. */
    public Optional<Notification> nextNotification() {
        return handle.call(engine -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment name = arena.allocate(NOTIFY_NAME_BYTES_MAX + 1L);
                MemorySegment message = arena.allocate(NOTIFY_BYTES_MAX);
                MemorySegment length = arena.allocate(JAVA_INT);
                int status = library.engineNextNotify(
                        engine,
                        name.address(),
                        (int) name.byteSize(),
                        message.address(),
                        (int) message.byteSize(),
                        length.address());
                if (status == Status.NOT_FOUND.code()) {
                    return Optional.empty();
                }
                requireOk("cannot take a notification", engine, status);
                return Optional.of(Notification.of(name.getString(0), message.asSlice(0, length.get(JAVA_INT, 0))));
            }
        });
    }

    public EngineStats stats() {
        return handle.call(engine -> {
            try (Arena arena = Arena.ofConfined()) {
                Struct stats = new Struct(arena, Layouts.ENGINE_STATS);
                requireOk("cannot read statistics", engine, library.engineGetStats(engine, stats.address()));
                return EngineStats.of(stats);
            }
        });
    }

    /** What became of each protocol of the list. */
    public String transports() {
        return handle.call(engine -> text(engine, library::engineTransports));
    }

    /** The sentence behind the latest failure. Empty when there was none. */
    public String explain() {
        return handle.call(engine -> text(engine, library::engineExplain));
    }

    /** Ends running batches with KV_CLOSED and disconnects. The second time does nothing. */
    @Override
    public void close() {
        handle.close();
    }

    /** Submits the batch and waits for its end, which its own timeout bounds. */
    private List<Status> run(
            TransferOp op, List<Transfer> lines, Optional<Notification> notification, Duration timeout) {
        try (Arena arena = Arena.ofConfined()) {
            TransferTable table = new TransferTable(arena, lines);
            long batch = submit(op, arena, table, notification, timeout);
            while (waitOnce(batch, WAIT_SLICE_MS) == Status.TIMEOUT.code()) {
                // In slices: a single long wait would keep close() from getting through.
            }
            return IntStream.range(0, table.count())
                    .mapToObj(i -> Status.of(table.statusCode(i)))
                    .toList();
        }
    }

    /** Submits the batch and leaves it to whoever waits for it. */
    private TransferBatch begin(
            TransferOp op, List<Transfer> lines, Optional<Notification> notification, Duration timeout) {
        Arena arena = Arena.ofShared(); // another thread than this one may ask for the end
        try {
            TransferTable table = new TransferTable(arena, lines);
            long batch = submit(op, arena, table, notification, timeout);
            return new TransferBatch(timeoutMs -> waitOnce(batch, timeoutMs), arena, table);
        } catch (RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    private long submit(
            TransferOp op, Arena arena, TransferTable table, Optional<Notification> notification, Duration timeout) {
        Struct options = new Struct(arena, Layouts.TRANSFER_OPTIONS)
                .u32("timeout_ms", Arguments.milliseconds("timeout", timeout));
        notification.ifPresent(told -> told.writeTo(arena, options));
        MemorySegment batch = arena.allocate(JAVA_LONG);
        return handle.call(engine -> {
            int status = library.engineSubmit(
                    engine, op.code(), table.address(), table.count(), options.address(), batch.address());
            requireOk("cannot submit " + table.count() + " transfers", engine, status);
            return batch.get(JAVA_LONG, 0);
        });
    }

    private int waitOnce(long batch, int timeoutMs) {
        return handle.call(engine -> {
            int status = library.engineWait(engine, batch, timeoutMs);
            if (status != Status.TIMEOUT.code()) {
                requireOk("lost a batch", engine, status);
            }
            return status;
        });
    }

    private interface RegionsCall {
        int apply(long engine, long regions, int count);
    }

    private void withRegions(Collection<MemorySegment> memory, String what, RegionsCall call) {
        List<MemorySegment> regions = new ArrayList<>(memory);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment table = arena.allocate(Layouts.REGION, Math.max(regions.size(), 1));
            for (int i = 0; i < regions.size(); i++) {
                table.setAtIndex(JAVA_LONG, 2L * i, Transfer.nativeAddress(regions.get(i)));
                table.setAtIndex(JAVA_LONG, 2L * i + 1, regions.get(i).byteSize());
            }
            handle.call(engine -> {
                int status = call.apply(engine, table.address(), regions.size());
                requireOk(what, engine, status);
                return status;
            });
        }
    }

    private interface TextCall {
        int apply(long engine, long out, int outSize);
    }

    private String text(long engine, TextCall call) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = arena.allocate(TEXT_BYTES);
            int status = call.apply(engine, text.address(), TEXT_BYTES);
            return status == Status.OK.code() ? text.getString(0) : "";
        }
    }

    private void requireOk(String what, long engine, int status) {
        if (status != Status.OK.code()) {
            String why = text(engine, library::engineExplain);
            throw ErrorText.failure(why.isEmpty() ? what : what + " (" + why + ")", status);
        }
    }
}
