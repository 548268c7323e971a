// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * How large a regular expression becomes when every counted repetition is written out, {@code ((a{9}){9}){9}} for instance 729. It
 * reads no more of the syntax than that takes, and takes what it cannot read for single characters: whether the text is a
 * regular expression at all is found when it is compiled.
 */
final class PatternSize {
    private static final long LARGE = Integer.MAX_VALUE;

    private final String text;
    private final Deque<Long> open = new ArrayDeque<>();
    private int at;

    /** Of the innermost open group so far, and of its last part, which a repetition would repeat. */
    private long group;

    private long last;

    private PatternSize(String text) {
        this.text = text;
    }

    static long of(String text) {
        return new PatternSize(text).read();
    }

    private long read() {
        while (at < text.length()) {
            char c = text.charAt(at);
            switch (c) {
                case '\\' -> escaped();
                case '[' -> characterClass();
                case '(' -> begin();
                case ')' -> end();
                case '{' -> repetition();
                default -> part(1, 1);
            }
        }
        while (!open.isEmpty()) {
            end();
        }
        return group;
    }

    /** A part of the pattern of so many characters of text. */
    private void part(long size, int characters) {
        last = size;
        group = Math.min(LARGE, group + size);
        at += characters;
    }

    private void escaped() {
        if (text.startsWith("\\Q", at)) {
            int end = text.indexOf("\\E", at);
            int literal = (end < 0 ? text.length() : end) - at - 2;
            part(Math.max(1, literal), literal + (end < 0 ? 2 : 4));
        } else {
            part(1, 2);
        }
    }

    /** One part, however many characters it names; a bracket that comes first is one of them. */
    private void characterClass() {
        int end = at + 1;
        if (text.startsWith("^", end)) {
            end++;
        }
        if (text.startsWith("]", end)) {
            end++;
        }
        while (end < text.length() && text.charAt(end) != ']') {
            int named = text.startsWith("[:", end) ? text.indexOf(":]", end) : -1;
            if (named >= 0) {
                end = named + 2;
            } else {
                end += text.charAt(end) == '\\' ? 2 : 1;
            }
        }
        part(1, end + 1 - at);
    }

    private void begin() {
        open.push(group);
        group = 0;
        last = 0;
        at++;
    }

    private void end() {
        long inner = group + 2; // where it begins and ends
        group = open.isEmpty() ? group : open.pop();
        part(inner, 1);
    }

    /** Not one that counts is a brace that stands for itself. */
    private void repetition() {
        int end = text.indexOf('}', at);
        String[] bounds = end < 0 ? new String[0] : text.substring(at + 1, end).split(",", -1);
        long times = 0;
        for (String bound : bounds) {
            if (bound.length() > 4 || !bound.chars().allMatch(c -> c >= '0' && c <= '9')) {
                part(1, 1);
                return;
            }
            times = Math.max(times, bound.isEmpty() ? 0 : Long.parseLong(bound));
        }
        if (times == 0) {
            part(1, 1);
            return;
        }
        group = Math.min(LARGE, group + last * (times - 1));
        last = Math.min(LARGE, last * times);
        at = end + 1;
    }
}
