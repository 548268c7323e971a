// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

/**
 * The times of an election, in milliseconds.
 *
 * @param leaseDurationMs how long the others wait after the holder's last sign of life
 * @param renewDeadlineMs how long a leader serves after its last renewal; less than the duration
 * @param retryPeriodMs between two looks at the Lease; less than the deadline
 */
public record ElectionTimes(long leaseDurationMs, long renewDeadlineMs, long retryPeriodMs) {
    public static final ElectionTimes DEFAULT = new ElectionTimes(5_000, 3_000, 1_000);

    public ElectionTimes {
        if (!(0 < retryPeriodMs && retryPeriodMs < renewDeadlineMs && renewDeadlineMs < leaseDurationMs)) {
            throw new IllegalArgumentException(
                    "election times must be 0 < retry period < renew deadline < lease duration," + " not "
                            + retryPeriodMs + ", " + renewDeadlineMs + " and " + leaseDurationMs + " ms");
        }
    }
}
