// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

/** Something that must always hold did not. */
final class Violation extends AssertionError {
    /** @param check the name of the check that found it */
    private Violation(String check, String message) {
        super("[" + check + "] " + message);
    }

    @SuppressWarnings("AnnotateFormatMethod") // the annotation is not on the class path
    static void unless(boolean holds, String check, String otherwise, Object... words) {
        if (!holds) {
            throw new Violation(check, otherwise.formatted(words));
        }
    }
}
