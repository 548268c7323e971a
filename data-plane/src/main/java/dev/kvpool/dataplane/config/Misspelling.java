// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A name that is so near to a known one that it was probably meant.
 *
 * @param name what is there
 * @param likely what was probably meant
 */
public record Misspelling(String name, String likely) {
    /** Of how many letters one may be wrong: with fewer, words such as HOST and PORT are near each other. */
    private static final int LETTERS_PER_MISTAKE = 4;

    private static final int MISTAKES_MAX = 3;

    /**
     * Looks for the nearest known name.
     *
     * @param prefix what all names begin with, which says nothing of how near they are
     */
    static Optional<Misspelling> find(String name, Collection<String> known, String prefix) {
        String written = name.substring(prefix.length());
        return known.stream()
                .map(likely -> new Candidate(likely, distance(written, likely.substring(prefix.length()))))
                .filter(candidate -> candidate.distance <= mistakes(candidate.likely.length() - prefix.length()))
                .min(Comparator.comparingInt(Candidate::distance).thenComparing(Candidate::likely))
                .map(candidate -> new Misspelling(name, candidate.likely));
    }

    private record Candidate(String likely, int distance) {}

    private static int mistakes(int length) {
        return Math.min(length / LETTERS_PER_MISTAKE, MISTAKES_MAX);
    }

    /** How many letters must be inserted, left out, replaced, or swapped with their neighbour to make one of the other. */
    private static int distance(String from, String to) {
        int[] beforeLast = new int[0];
        int[] last = IntStream.rangeClosed(0, to.length()).toArray();
        for (int i = 1; i <= from.length(); i++) {
            int[] row = new int[to.length() + 1];
            row[0] = i;
            for (int j = 1; j <= to.length(); j++) {
                boolean same = from.charAt(i - 1) == to.charAt(j - 1);
                row[j] = Math.min(Math.min(row[j - 1], last[j]) + 1, last[j - 1] + (same ? 0 : 1));
                if (i > 1
                        && j > 1
                        && from.charAt(i - 1) == to.charAt(j - 2)
                        && from.charAt(i - 2) == to.charAt(j - 1)) {
                    row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
                }
            }
            beforeLast = last;
            last = row;
        }
        return last[to.length()];
    }
}
