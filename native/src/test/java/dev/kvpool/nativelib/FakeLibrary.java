// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Set;

/**
 * A libkvpool whose answers the test chooses. It remembers which handles live and fails the test when a call uses one
 * that does not, where the real one would crash.
 */
final class FakeLibrary implements KvLibrary {
    int abi = LoadedLibrary.ABI_VERSION;
    int startStatus;
    String startError = "";
    int statsStatus;
    int destroyed;

    /** A copy of the {@code kv_batch_options} of the last batch. */
    byte[] submittedOptions = new byte[0];

    private final Set<Long> alive = new HashSet<>();
    private long nextHandle = 0x1000;

    @Override
    public int abiVersion() {
        return abi;
    }

    @Override
    public int getVersions(long out) {
        return Status.INTERNAL.code();
    }

    @Override
    public String sbom() {
        throw new UnsupportedOperationException();
    }

    @Override
    public long statusName(int status) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long statusText(int status) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int logLevel(int level) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int nodeStart(long params, long out, long error, int errorSize) {
        return create(out, error, errorSize);
    }

    @Override
    public int nodeGetStats(long node, long out) {
        requireAlive(node);
        return statsStatus;
    }

    @Override
    public int nodeExplain(long node, long out, int outSize) {
        requireAlive(node);
        memory(out, outSize).setString(0, "libucp.so.0 is not here");
        return Status.OK.code();
    }

    @Override
    public void nodeDestroy(long node) {
        destroy(node);
    }

    @Override
    public int clientCreate(long params, long out, long error, int errorSize) {
        return create(out, error, errorSize);
    }

    @Override
    @SuppressWarnings("restricted") // reads what the caller points to, as the real library does
    public int clientSubmit(long client, int opCode, long table, int count, long options, long batchOut) {
        requireAlive(client);
        MemorySegment given = MemorySegment.ofAddress(options).reinterpret(Layouts.BATCH_OPTIONS.byteSize());
        submittedOptions = given.toArray(ValueLayout.JAVA_BYTE);
        return Status.QUEUE_FULL.code();
    }

    @Override
    public int clientWait(long client, long batch, int timeoutMs) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int clientExplain(long client, long out, int outSize) {
        requireAlive(client);
        memory(out, outSize).setString(0, "node demo-0 said no");
        return Status.OK.code();
    }

    @Override
    public void clientDestroy(long client) {
        destroy(client);
    }

    @Override
    public int agentStart(long params, long out, long error, int errorSize) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int agentGetStats(long agent, long out) {
        throw new UnsupportedOperationException();
    }

    @Override
    public int agentExplain(long agent, long out, int outSize) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void agentDestroy(long agent) {
        throw new UnsupportedOperationException();
    }

    @Override
    public String origin() {
        return "/old/libkvpool.so";
    }

    private int create(long out, long error, int errorSize) {
        if (startStatus != Status.OK.code()) {
            if (!startError.isEmpty()) {
                memory(error, errorSize).setString(0, startError);
            }
            return startStatus;
        }
        long handle = nextHandle++;
        alive.add(handle);
        memory(out, Long.BYTES).set(ValueLayout.JAVA_LONG, 0, handle);
        return Status.OK.code();
    }

    private void destroy(long handle) {
        requireAlive(handle);
        alive.remove(handle);
        destroyed++;
    }

    private void requireAlive(long handle) {
        if (!alive.contains(handle)) {
            throw new AssertionError("call on a handle that was destroyed: " + handle);
        }
    }

    @SuppressWarnings("restricted") // the test plays the part of C, which writes through addresses
    private static MemorySegment memory(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }
}
