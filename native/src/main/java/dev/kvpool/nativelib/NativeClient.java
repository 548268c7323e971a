// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A client of a pool, for diagnostics and tests: it copies values, where an engine would register its own memory and use
 * the Python binding. Batches answer for each key, in the order given. Safe for use by many threads; every method but
 * {@link #close} throws KV_CLOSED after closing.
 */
public final class NativeClient implements AutoCloseable {
    /** Longest key: KV_KEY_BYTES_MAX. */
    public static final int KEY_BYTES_MAX = 4096;

    /** Most keys of one batch: KV_BATCH_MAX. */
    public static final int BATCH_MAX = 65536;

    /** Time of one wait inside the library, and so how long close may have to wait for a running batch. */
    private static final int WAIT_SLICE_MS = 100;

    /** Room for each value of the first batch of a get. */
    private static final int SMALL_BYTES = 4096;

    private final KvLibrary library;
    private final NativeHandle handle;

    private NativeClient(KvLibrary library, NativeHandle handle) {
        this.library = library;
        this.handle = handle;
    }

    /**
     * Connects to the leader among the masters.
     *
     * @throws KvException with a sentence that names each master tried and why it did not do
     */
    public static NativeClient connect(ClientParameters parameters) {
        return connect(LoadedLibrary.get(), parameters);
    }

    static NativeClient connect(KvLibrary library, ClientParameters parameters) {
        NativeHandle handle = NativeHandle.open(
                "client",
                "cannot connect to the pool at " + parameters.masters(),
                Layouts.CLIENT_PARAMS,
                parameters::writeTo,
                library::clientCreate,
                library::clientDestroy);
        return new NativeClient(library, handle);
    }

    /** Puts each value under its key; an existing key is OK and keeps its first value; in the order of the map. */
    public List<Status> put(Map<String, byte[]> values, Duration timeout) {
        List<Map.Entry<String, byte[]>> entries = List.copyOf(values.entrySet());
        try (Arena arena = Arena.ofConfined()) {
            OpTable table =
                    new OpTable(arena, entries.stream().map(Map.Entry::getKey).toList());
            for (int i = 0; i < entries.size(); i++) {
                table.source(i, entries.get(i).getValue());
            }
            run(arena, OpCode.PUT, table, new Struct(arena, Layouts.BATCH_OPTIONS), timeout);
            return statuses(table);
        }
    }

    /** Reads the values of the keys: one batch for what is small, a second one for what was told to be larger. */
    public List<ObjectValue> get(List<String> keys, Duration timeout) {
        try (Arena arena = Arena.ofConfined()) {
            List<ObjectValue> answers = new ArrayList<>(keys.size());
            OpTable first = new OpTable(arena, keys);
            IntStream.range(0, first.count()).forEach(i -> first.destination(i, SMALL_BYTES));
            run(arena, OpCode.GET, first, new Struct(arena, Layouts.BATCH_OPTIONS), timeout);
            IntStream.range(0, first.count()).forEach(i -> answers.add(value(first, i)));

            List<Integer> larger = IntStream.range(0, first.count())
                    .filter(i -> answers.get(i).status() == Status.BUFFER_TOO_SMALL)
                    .boxed()
                    .toList();
            OpTable second = new OpTable(arena, larger.stream().map(keys::get).toList());
            IntStream.range(0, second.count()).forEach(i -> second.destination(i, first.resultLength(larger.get(i))));
            run(arena, OpCode.GET, second, new Struct(arena, Layouts.BATCH_OPTIONS), timeout);
            IntStream.range(0, second.count()).forEach(i -> answers.set(larger.get(i), value(second, i)));
            return answers;
        }
    }

    /** For each key OK or NOT_FOUND, or why it cannot be told; leases what exists. */
    public List<Status> exists(List<String> keys, Duration timeout) {
        return keysOnly(OpCode.EXISTS, keys, 0, timeout);
    }

    /** Removes the keys; with force also those a reader may still use. */
    public List<Status> remove(List<String> keys, boolean force, Duration timeout) {
        return keysOnly(OpCode.REMOVE, keys, force ? OpCode.FLAG_FORCE : 0, timeout);
    }

    /** The sentence behind the latest failure: which peer, what it said. Empty when there was none. */
    public String explain() {
        return handle.text(library::clientExplain);
    }

    /** Ends the connections; running batches fail with KV_CLOSED. The second time does nothing. */
    @Override
    public void close() {
        handle.close();
    }

    private List<Status> keysOnly(OpCode code, List<String> keys, int flags, Duration timeout) {
        try (Arena arena = Arena.ofConfined()) {
            OpTable table = new OpTable(arena, keys);
            run(arena, code, table, new Struct(arena, Layouts.BATCH_OPTIONS).u32("flags", flags), timeout);
            return statuses(table);
        }
    }

    /** Submits the batch and waits for its end, which its own timeout bounds. */
    private void run(Arena arena, OpCode code, OpTable table, Struct options, Duration timeout) {
        if (table.count() == 0) {
            return;
        }
        options.u32("timeout_ms", Arguments.milliseconds("timeout", timeout));
        MemorySegment batch = arena.allocate(JAVA_LONG);
        handle.call(client -> {
            int status = library.clientSubmit(
                    client, code.code(), table.address(), table.count(), options.address(), batch.address());
            requireOk("cannot submit a batch of " + table.count() + " keys", status);
            return status;
        });
        while (waitOnce(batch.get(JAVA_LONG, 0)) == Status.TIMEOUT.code()) {
            // In slices: a single long wait would keep close() from getting through.
        }
    }

    private int waitOnce(long batch) {
        return handle.call(client -> {
            int status = library.clientWait(client, batch, WAIT_SLICE_MS);
            if (status != Status.TIMEOUT.code()) {
                requireOk("lost a batch", status);
            }
            return status;
        });
    }

    private void requireOk(String what, int status) {
        if (status != Status.OK.code()) {
            String cause = explain();
            throw ErrorText.failure(cause.isEmpty() ? what : what + " (" + cause + ")", status);
        }
    }

    private static ObjectValue value(OpTable table, int index) {
        Status status = status(table, index);
        return new ObjectValue(status, status == Status.OK ? Optional.of(table.result(index)) : Optional.empty());
    }

    private static List<Status> statuses(OpTable table) {
        return IntStream.range(0, table.count()).mapToObj(i -> status(table, i)).toList();
    }

    private static Status status(OpTable table, int index) {
        int code = table.statusCode(index);
        return Status.find(code)
                .orElseThrow(() -> new KvException(Status.INTERNAL, "libkvpool gave the unknown status " + code));
    }
}
