// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * The address of an opaque C object. Calls share a read lock and closing takes the write lock, so nothing runs on the
 * object while it is destroyed, and a call after that throws KV_CLOSED instead of touching freed memory.
 */
final class NativeHandle implements AutoCloseable {
    /** A function that writes the address of a new object to {@code out}, or a sentence to {@code error}. */
    interface Create {
        int call(long parameters, long out, long error, int errorSize);
    }

    /** A function that fills the struct at {@code out}. */
    interface Fill {
        int call(long object, long out);
    }

    /** A function that writes a text to {@code out}. */
    interface Tell {
        int call(long object, long out, int outSize);
    }

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final String what;
    private final LongConsumer destroy;
    private long address;

    private NativeHandle(String what, long address, LongConsumer destroy) {
        if (address == 0) {
            throw new KvException(Status.INTERNAL, "libkvpool reported success but gave no " + what);
        }
        this.what = what;
        this.address = address;
        this.destroy = destroy;
    }

    /**
     * Creates the object from a struct of parameters.
     *
     * @param action what failed if it fails, such as "cannot start storage node a"
     * @throws KvException with the library's sentence
     */
    static NativeHandle open(
            String what,
            String action,
            StructLayout layout,
            Consumer<Struct> parameters,
            Create create,
            LongConsumer destroy) {
        try (Arena arena = Arena.ofConfined()) {
            Struct struct = new Struct(arena, layout);
            parameters.accept(struct);
            MemorySegment out = arena.allocate(JAVA_LONG);
            ErrorText error = new ErrorText(arena);
            int status = create.call(struct.address(), out.address(), error.address(), error.size());
            if (status != Status.OK.code()) {
                throw error.exception(action, status);
            }
            return new NativeHandle(what, out.get(JAVA_LONG, 0), destroy);
        }
    }

    /** The object's numbers now. */
    NativeStats stats(StructLayout layout, Fill fill) {
        return call(object -> {
            try (Arena arena = Arena.ofConfined()) {
                Struct stats = new Struct(arena, layout);
                int status = fill.call(object, stats.address());
                if (status != Status.OK.code()) {
                    throw ErrorText.failure("cannot read the statistics of " + what, status);
                }
                return new NativeStats(stats.values());
            }
        });
    }

    /** What the object has to say; empty when that is nothing. */
    String text(Tell tell) {
        return call(object -> {
            try (Arena arena = Arena.ofConfined()) {
                ErrorText text = new ErrorText(arena);
                int status = tell.call(object, text.address(), text.size());
                if (status != Status.OK.code()) {
                    throw ErrorText.failure("cannot ask the " + what, status);
                }
                return text.text();
            }
        });
    }

    /** Runs the call with the address. It must end by itself in bounded time, because close waits for it. */
    <T> T call(LongFunction<T> function) {
        lock.readLock().lock();
        try {
            if (address == 0) {
                throw new KvException(Status.CLOSED, what + " is closed");
            }
            return function.apply(address);
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Destroys the object; the second time does nothing. */
    @Override
    public void close() {
        lock.writeLock().lock();
        try {
            if (address != 0) {
                destroy.accept(address);
                address = 0;
            }
        } finally {
            lock.writeLock().unlock();
        }
    }
}
