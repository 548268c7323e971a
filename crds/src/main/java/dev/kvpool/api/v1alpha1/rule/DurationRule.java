// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.rule;

/** The CEL text that durations of the API share: as Kubernetes' Gateway API has them, and as Go prints them. */
public final class DurationRule {
    private static final String PATTERN = "matches('^([0-9]{1,5}(h|m|s|ms)){1,4}$')";

    public static final String FORMAT = "self." + PATTERN;

    /** Of a text that CEL calls {@code t}. */
    public static final String FORMAT_OF_T = "t." + PATTERN;

    public static final String MESSAGE =
            " must be a duration of hours, minutes, seconds and milliseconds, for example 1h, 1m30s or 500ms";

    public static final int LENGTH_MAX = 32;

    private DurationRule() {}
}
