// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.identity.text;

import java.util.regex.Pattern;

/** Text of a user inside a message: one line, no control characters, not endless. */
public final class Quoted {
    /** Those of Unicode, not of ASCII alone, and what ends lines and paragraphs without being one. */
    private static final Pattern CONTROLS = Pattern.compile("[\\p{Cc}\\u2028\\u2029]");

    private static final int MAX = 200;

    private Quoted() {}

    public static String cut(String text) {
        String clean = CONTROLS.matcher(text).replaceAll("?");
        return clean.length() <= MAX ? clean : clean.substring(0, MAX) + "... (" + clean.length() + " characters)";
    }
}
