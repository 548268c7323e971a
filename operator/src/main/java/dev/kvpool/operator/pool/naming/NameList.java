// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

import java.util.List;

/** Names in a sentence, with a bound on how many are written out. */
public final class NameList {
    private static final int NAMES_MAX = 5;

    private NameList() {}

    /** Names and what they do: one name, or several. */
    public static String with(List<String> names, String one, String several) {
        return of(names) + " " + (names.size() == 1 ? one : several);
    }

    public static String of(List<String> names) {
        if (names.size() <= NAMES_MAX) {
            return String.join(", ", names);
        }
        return String.join(", ", names.subList(0, NAMES_MAX)) + " and " + (names.size() - NAMES_MAX) + " more";
    }
}
