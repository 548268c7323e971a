// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import java.io.ByteArrayOutputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What stands after the question mark of a request. Two values of one parameter, or bytes that are no text, are a mistake of the caller's: a
 * guess at what was meant could remove another tenant's objects.
 *
 * @param parameters decoded; of one that stands twice the last
 * @param problem why no route may go by them, and what helps; empty when they are good
 */
record Query(Map<String, String> parameters, Optional<String> problem) {
    private static final int NAME_SHOWN_MAX = 64;
    private static final int ASCII_MAX = 0x7f;

    /** The query of a URI, without the question mark; null when it has none. Escapes in it are whole: the server refuses others. */
    static Query parse(String raw) {
        Map<String, String> parameters = new HashMap<>();
        Optional<String> problem = Optional.empty();
        for (String pair : raw == null || raw.isEmpty() ? new String[0] : raw.split("&", -1)) {
            int equals = pair.indexOf('=');
            String rawName = equals < 0 ? pair : pair.substring(0, equals);
            Optional<String> name = decode(rawName);
            Optional<String> value = decode(equals < 0 ? "" : pair.substring(equals + 1));
            if (name.isEmpty() || value.isEmpty()) {
                problem = problem.or(() -> Optional.of("parameter " + shown(rawName)
                        + " is not UTF-8: write each byte of its UTF-8 form that is not ASCII as %XX"));
            } else if (parameters.put(name.get(), value.get()) != null) {
                problem = problem.or(() -> Optional.of("parameter " + shown(rawName) + " stands twice: give it once"));
            }
        }
        return new Query(parameters, problem);
    }

    private static String shown(String name) {
        return name.length() <= NAME_SHOWN_MAX ? name : name.substring(0, NAME_SHOWN_MAX) + "...";
    }

    private static Optional<String> decode(String text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c > ASCII_MAX) {
                return Optional.empty();
            }
            if (c == '%') {
                bytes.write(Integer.parseInt(text, i + 1, i + 3, 16));
                i += 2;
            } else {
                bytes.write(c == '+' ? ' ' : c);
            }
        }
        return StrictUtf8.decode(bytes.toByteArray());
    }
}
