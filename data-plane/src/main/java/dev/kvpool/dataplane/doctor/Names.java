// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Many of a kind in one sentence: the first three, and how many more. */
final class Names {
    private static final int SHOWN = 3;

    private Names() {}

    static <T> String of(List<T> all, Function<T, String> name) {
        String shown = all.stream().limit(SHOWN).map(name).collect(Collectors.joining(", "));
        return all.size() <= SHOWN ? shown : shown + " and " + (all.size() - SHOWN) + " more";
    }
}
