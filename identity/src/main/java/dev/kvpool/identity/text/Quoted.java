// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.text;

/** Text of a user inside a message: one line, no control characters, not endless. */
public final class Quoted {
    private static final int MAX = 200;

    private Quoted() {}

    public static String cut(String text) {
        String clean = text.replaceAll("\\p{Cntrl}", "?");
        return clean.length() <= MAX ? clean : clean.substring(0, MAX) + "... (" + clean.length() + " characters)";
    }
}
