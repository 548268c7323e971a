// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * The address of an opaque C object. Calls share a read lock and closing takes the write lock, so nothing runs on the
 * object while it is destroyed, and a call after that throws KV_CLOSED instead of touching freed memory.
 */
final class NativeHandle implements AutoCloseable {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final String what;
    private final LongConsumer destroy;
    private long address;

    NativeHandle(String what, long address, LongConsumer destroy) {
        if (address == 0) {
            throw new KvException(Status.INTERNAL, "libkvpool reported success but gave no " + what);
        }
        this.what = what;
        this.address = address;
        this.destroy = destroy;
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
