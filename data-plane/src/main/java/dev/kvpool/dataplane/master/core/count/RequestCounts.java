// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.count;

import dev.kvpool.nativelib.Status;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** How requests of clients were answered: each is a batch of items, and of some a part fails. Those without items do not count. */
public final class RequestCounts {
    /** What was asked for. */
    public enum Kind {
        EXIST_KEY(Status.NOT_FOUND),
        GET_REPLICA_LIST(Status.OK),
        PUT_START(Status.OK),
        /** The items of a publish that were written. */
        PUT_END(Status.EXISTS),
        /** The others of it: their clients give them up. */
        PUT_REVOKE(Status.OK),
        REMOVE(Status.OK),
        REMOVE_BY_REGEX(Status.OK),
        REMOVE_ALL(Status.OK),
        CREATE_COPY_TASK(Status.OK),
        CREATE_MOVE_TASK(Status.OK),
        QUERY_TASK(Status.OK);

        /** An answer beside OK that is no failure. */
        private final Status alsoGood;

        Kind(Status alsoGood) {
            this.alsoGood = alsoGood;
        }

        private boolean isFailure(Status status) {
            return status != Status.OK && status != alsoGood;
        }
    }

    /**
     * Of one kind.
     *
     * @param failures requests of which every item failed
     * @param partialSuccesses requests of which some items failed
     */
    public record Sum(long requests, long failures, long partialSuccesses, long items, long failedItems) {
        static final Sum NONE = new Sum(0, 0, 0, 0, 0);

        private Sum with(int more, int failed) {
            return new Sum(
                    requests + 1,
                    failures + (failed == more ? 1 : 0),
                    partialSuccesses + (failed > 0 && failed < more ? 1 : 0),
                    items + more,
                    failedItems + failed);
        }
    }

    private final Map<Kind, Sum> sums;

    public RequestCounts() {
        this(new EnumMap<>(Kind.class));
    }

    private RequestCounts(Map<Kind, Sum> sums) {
        this.sums = sums;
    }

    /** A request was answered with these items. */
    public <T> void answered(Kind kind, List<T> items, Function<? super T, Status> status) {
        int failed = 0;
        for (T item : items) {
            failed += kind.isFailure(status.apply(item)) ? 1 : 0;
        }
        if (!items.isEmpty()) {
            sums.put(kind, of(kind).with(items.size(), failed));
        }
    }

    /** A request was answered as a whole. */
    public void answered(Kind kind, int items, Status status) {
        answered(kind, Collections.nCopies(items, status), Function.identity());
    }

    public Sum of(Kind kind) {
        return sums.getOrDefault(kind, Sum.NONE);
    }

    public RequestCounts copy() {
        return new RequestCounts(new EnumMap<>(sums));
    }
}
