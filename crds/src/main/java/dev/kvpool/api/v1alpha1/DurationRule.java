// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

/** The CEL text that durations of the API share. kvpool's command line reads the same form. */
final class DurationRule {
    static final String FORMAT = "self.matches('^[1-9][0-9]{0,8}(ms|s|m)$')";

    private DurationRule() {}
}
