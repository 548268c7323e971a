// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * An operator that dies in each state of a pool, and another takes its place. It dies when it begins to look at the pool, which it does
 * between any two statuses that it writes: however short a state is, it is not missed.
 */
final class OperatorDeaths<S> implements AutoCloseable {
    private final OperatorUnderTest operator;
    private final PoolUnderTest pool;
    private final Function<KvCachePoolStatus, Stream<S>> states;
    private final List<S> seen = new ArrayList<>();
    private boolean dying;

    /**
     * From now on, of a pool that runs.
     *
     * @param states in which the operator shall die, of a stored status; of several new ones in the first of them first
     */
    OperatorDeaths(OperatorUnderTest operator, PoolUnderTest pool, Function<KvCachePoolStatus, Stream<S>> states) {
        this.operator = operator;
        this.pool = pool;
        this.states = states;
        operator.masters().onQuestion(this::look);
    }

    /** Looks again and again, and starts another operator where one dies. */
    void play(BooleanSupplier until) {
        pool.play(() -> {
            if (isDying()) {
                operator.restart();
                go();
            }
            return until.getAsBoolean();
        });
    }

    /** States in which operators died, in order. */
    synchronized List<S> seen() {
        return List.copyOf(seen);
    }

    /** The operator lives on. */
    @Override
    public void close() {
        operator.masters().onQuestion(pods -> {});
        go();
    }

    /** On a thread of an operator, which is held here until it has been stopped. */
    private synchronized void look(Set<String> pods) {
        if (Collections.disjoint(pods, Set.of(pool.master(0), pool.master(1)))) {
            return;
        }
        awaitEndOfDeath();
        states.apply(pool.status())
                .filter(state -> !seen.contains(state))
                .findFirst()
                .ifPresent(state -> {
                    seen.add(state);
                    dying = true;
                });
        awaitEndOfDeath();
    }

    private synchronized void awaitEndOfDeath() {
        while (dying) {
            try {
                wait();
            } catch (InterruptedException ignored) {
                // The operator stops; this look shall outlive that.
            }
        }
    }

    private synchronized boolean isDying() {
        return dying;
    }

    private synchronized void go() {
        dying = false;
        notifyAll();
    }
}
