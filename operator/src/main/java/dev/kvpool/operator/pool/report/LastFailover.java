// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import dev.kvpool.api.v1alpha1.status.FailoverCause;
import dev.kvpool.api.v1alpha1.status.FailoverStatus;
import dev.kvpool.operator.master.PoolReport;
import java.time.Duration;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;

/** What the status says of the last change of leaders: the leader knows, also when no operator looked. Pure. */
final class LastFailover {
    private static final Duration SHORT = Duration.ofSeconds(1);

    private LastFailover() {}

    /**
     * The next value.
     *
     * @param old what the status said; kept while the leader tells of no other change
     */
    static FailoverStatus next(FailoverStatus old, Optional<PoolReport> leader) {
        return leader.flatMap(LastFailover::told)
                .filter(told -> old == null || !told.epoch().equals(old.epoch()))
                .orElse(old);
    }

    /** As the end of a sentence. */
    static String words(FailoverCause cause) {
        return switch (cause) {
            case LEADER_DIED -> "the leader died";
            case HANDOVER -> "the leadership was handed over";
            case LEADER_SILENT -> "the leader was silent";
            case LEASE_EXPIRED -> "the leader was silent until its Lease expired";
            case LEASE_DELETED -> "the Lease was deleted";
            case LEADER_LAPSED -> "the leader renewed its Lease too late, or storage nodes accepted a higher epoch";
        };
    }

    private static Optional<FailoverStatus> told(PoolReport leader) {
        PoolReport.Takeover takeover = leader.master().takeover();
        return Optional.ofNullable(takeover)
                .flatMap(it -> cause(it.cause()))
                .map(cause -> new FailoverStatus(
                        takeover.epoch(),
                        time(takeover.at()),
                        takeover.from().isEmpty() ? null : takeover.from(),
                        leader.name(),
                        cause,
                        duration(takeover.durationMs())));
    }

    /** The first leader of a pool follows none; causes of later versions are not guessed at. */
    private static Optional<FailoverCause> cause(String told) {
        return switch (told) {
            case "died" -> Optional.of(FailoverCause.LEADER_DIED);
            case "released" -> Optional.of(FailoverCause.HANDOVER);
            case "silent" -> Optional.of(FailoverCause.LEADER_SILENT);
            case "expired" -> Optional.of(FailoverCause.LEASE_EXPIRED);
            case "deleted" -> Optional.of(FailoverCause.LEASE_DELETED);
            case "raised" -> Optional.of(FailoverCause.LEADER_LAPSED);
            default -> Optional.empty();
        };
    }

    private static String time(String told) {
        try {
            return Instant.parse(told).truncatedTo(ChronoUnit.SECONDS).toString();
        } catch (DateTimeParseException e) {
            return null;
        }
    }

    private static String duration(long millis) {
        return millis < SHORT.toMillis() ? millis + "ms" : String.format(Locale.ROOT, "%.1fs", millis / 1000.0);
    }
}
