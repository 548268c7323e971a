// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import dev.kvpool.dataplane.master.core.base.DrainStatus;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.ToLongFunction;

/**
 * Drains that were asked for together: those that have the same time of their begin, which is what the job is known by. So any leader knows the
 * job as long as it knows the drains, and there is no list of jobs.
 *
 * @param drains of which there is one at least
 */
record DrainJob(List<DrainStatus> drains) {
    /** Numbered as in Mooncake, where two more come before RUNNING. */
    enum Status {
        RUNNING(2),
        SUCCEEDED(3),
        FAILED(4),
        CANCELED(5);

        private final int number;

        Status(int number) {
            this.number = number;
        }

        int number() {
            return number;
        }
    }

    /** The name of the job that began then in this pool. */
    static String id(String poolId, long startedAtMs) {
        return new UUID(startedAtMs, ofPool(poolId)).toString();
    }

    /** The time that an id of this pool names; empty when it is none. */
    static Optional<Long> startedAtMs(String poolId, String id) {
        try {
            UUID uuid = UUID.fromString(id);
            boolean ours = uuid.toString().equals(id) && uuid.getLeastSignificantBits() == ofPool(poolId);
            return Optional.of(uuid.getMostSignificantBits()).filter(ms -> ours && ms > 0);
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    private static long ofPool(String poolId) {
        return UUID.fromString(poolId).getLeastSignificantBits();
    }

    /** The job that began then; empty when none of its drains is known any more. */
    static Optional<DrainJob> find(List<DrainStatus> all, long startedAtMs) {
        List<DrainStatus> drains =
                all.stream().filter(drain -> drain.startedAtMs() == startedAtMs).toList();
        return Optional.of(new DrainJob(drains)).filter(job -> !drains.isEmpty());
    }

    Status status() {
        if (isAny(DrainStatus.State.DRAINING)) {
            return Status.RUNNING;
        }
        if (isAny(DrainStatus.State.CANCELLED)) {
            return Status.CANCELED;
        }
        return isAny(DrainStatus.State.TIMED_OUT) ? Status.FAILED : Status.SUCCEEDED;
    }

    private boolean isAny(DrainStatus.State state) {
        return drains.stream().anyMatch(drain -> drain.state() == state);
    }

    Instant startedAt() {
        return Instant.ofEpochMilli(drains.getFirst().startedAtMs());
    }

    List<String> segments() {
        return drains.stream().map(DrainStatus::node).toList();
    }

    long movedObjects() {
        return sum(DrainStatus::objectsMoved);
    }

    long movedBytes() {
        return sum(DrainStatus::bytesMoved);
    }

    /** Objects that drains in this state have not moved. */
    long leftObjects(DrainStatus.State state) {
        return drains.stream()
                .filter(drain -> drain.state() == state)
                .mapToLong(DrainStatus::objectsLeft)
                .sum();
    }

    private long sum(ToLongFunction<DrainStatus> what) {
        return drains.stream().mapToLong(what).sum();
    }

    /** What has not been moved and why, in one line; empty when there is nothing. */
    String message() {
        StringBuilder text = new StringBuilder();
        for (DrainStatus drain : drains) {
            for (DrainStatus.Leftover left : drain.leftovers()) {
                text.append(text.isEmpty() ? "" : "; ")
                        .append("%s: %d objects, %d bytes in %s: %s"
                                .formatted(drain.node(), left.objects(), left.bytes(), left.tier(), left.reason()));
            }
        }
        return text.toString();
    }
}
