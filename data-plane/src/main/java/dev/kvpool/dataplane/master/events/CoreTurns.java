// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import dev.kvpool.dataplane.master.core.MasterCore;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** Asks the core on its own thread, after all it did before was heard of. */
public interface CoreTurns {
    <T> CompletableFuture<T> ask(Function<MasterCore, T> question);
}
