// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import dev.kvpool.e2e.pool.Killer;
import java.util.function.Supplier;

/**
 * What was made once for all scenarios, or why it could not be made: making it takes minutes, so that no scenario tries what
 * another one could not.
 */
record Once<T>(T value, RuntimeException failure) implements AutoCloseable {

    static <T> Once<T> attempt(Supplier<T> maker) {
        try {
            return new Once<>(maker.get(), null);
        } catch (RuntimeException e) {
            return new Once<>(null, e);
        }
    }

    T orThrow() {
        if (failure != null) {
            throw failure;
        }
        return value;
    }

    @Override
    public void close() {
        switch (value) {
            case Cluster cluster -> cluster.close();
            case Killer killer -> killer.close();
            case null, default -> {}
        }
    }
}
