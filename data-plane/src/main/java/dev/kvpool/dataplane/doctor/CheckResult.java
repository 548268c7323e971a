// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

/**
 * What one check found.
 *
 * @param level how bad it is
 * @param subject what was looked at, in one or two words
 * @param found one sentence with the numbers
 * @param remedy what to do about it; empty when nothing is to be done
 */
record CheckResult(Level level, String subject, String found, String remedy) {
    /** How bad a finding is. */
    enum Level {
        OK("ok"),
        /** It works, but slower or with less safety than it could. */
        WARNING("warning"),
        /** Something that was asked for cannot work. */
        PROBLEM("problem");

        private final String text;

        Level(String text) {
            this.text = text;
        }

        String text() {
            return text;
        }
    }

    static CheckResult ok(String subject, String found) {
        return new CheckResult(Level.OK, subject, found, "");
    }

    static CheckResult warning(String subject, String found, String remedy) {
        return new CheckResult(Level.WARNING, subject, found, remedy);
    }

    static CheckResult problem(String subject, String found, String remedy) {
        return new CheckResult(Level.PROBLEM, subject, found, remedy);
    }
}
