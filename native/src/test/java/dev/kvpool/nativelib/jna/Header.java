// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib.jna;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The prototypes of kvpool.h, read from its text. The header keeps to few forms so that this can be small. */
record Header(Map<String, Prototype> prototypes) {
    private static final Pattern PROTOTYPE =
            Pattern.compile("KV_API\\s+([\\w\\s]+?[\\s*]+)(kv_\\w+)\\s*\\(([^)]*)\\)\\s*;");

    /** Bytes of the result (0 for void) and of each argument. */
    record Prototype(int result, List<Integer> arguments) {}

    static Header parse(String text) {
        String code = text.replaceAll("(?s)/\\*.*?\\*/", " ");
        Map<String, Prototype> prototypes = new TreeMap<>();
        Matcher prototype = PROTOTYPE.matcher(code);
        while (prototype.find()) {
            prototypes.put(prototype.group(2), new Prototype(width(prototype.group(1)), arguments(prototype.group(3))));
        }
        return new Header(prototypes);
    }

    private static List<Integer> arguments(String list) {
        List<Integer> widths = new ArrayList<>();
        if (!list.isBlank() && !list.trim().equals("void")) {
            for (String argument : list.split(",", -1)) {
                widths.add(width(argument));
            }
        }
        return widths;
    }

    private static int width(String declaration) {
        if (declaration.contains("*")) {
            return Long.BYTES;
        }
        return switch (declaration.trim().split("\\s+", 2)[0]) {
            case "void" -> 0;
            case "int32_t", "uint32_t" -> Integer.BYTES;
            case "int64_t", "uint64_t" -> Long.BYTES;
            default -> throw new IllegalArgumentException("kvpool.h may not use this type: " + declaration.trim());
        };
    }
}
