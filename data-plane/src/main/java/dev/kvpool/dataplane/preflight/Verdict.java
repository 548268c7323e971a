// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.preflight;

/**
 * Whether a pool can go over to this build.
 *
 * @param reason one sentence that names both sides, and the way out where there is one
 */
public record Verdict(Way way, String reason) {
    /** How a pool goes over to another build. */
    public enum Way {
        /** Every process is replaced while the others go on, and finds its objects again. */
        ROLLING_WARM("rolling-warm"),
        /** The same, but this build cannot read the segments there are: each node is emptied before. */
        ROLLING_DRAINED("rolling-drained"),
        /** Not at all: processes of both builds would refuse each other. */
        REFUSED("refused");

        private final String text;

        Way(String text) {
            this.text = text;
        }

        /** As the operator reads it. */
        public String text() {
            return text;
        }
    }
}
