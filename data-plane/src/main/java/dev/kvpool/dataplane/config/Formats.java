// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.math.BigDecimal;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The formats that settings of more than one command share. */
public final class Formats {
    private static final Pattern CANONICAL_UUID = Pattern.compile("[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}");
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9]([-._A-Za-z0-9]{0,251}[A-Za-z0-9])?");
    private static final int LIST_MAX = 1024;

    /** A UUID other than the nil UUID, which means "any pool" on the wire. */
    public static final Format<UUID> UUID_TEXT =
            new Format<>("UUID", "a UUID such as 5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01, not all zero", Formats::uuid);

    /** A name of a master or node, as Kubernetes names pods. */
    public static final Format<String> NAME_TEXT = new Format<>(
            "NAME", "1 to 253 letters, digits, '-', '.' and '_', with a letter or digit at both ends", Formats::name);

    public static final Format<List<String>> NAMES = listOf(NAME_TEXT);

    /** The same, or nothing at all. */
    public static final Format<List<String>> NAMES_OR_NONE = new Format<>(
            NAMES.label(),
            "empty for none, or " + NAMES.allowed(),
            text -> text.isEmpty() ? List.of() : NAMES.parse(text));

    public static final Format<Integer> PORT = integer("PORT", 1, 65535);

    public static final Format<Integer> PORT_OR_ANY =
            new Format<>("PORT", "0 (any free port) to 65535", integer("PORT", 0, 65535)::parse);

    /** Greater than 0, at most 1. */
    public static final Format<Double> RATIO = new Format<>("RATIO", "a number above 0 and at most 1", Formats::ratio);

    public static final Format<Boolean> SWITCH = oneOf("true|false", List.of("true", "false"), "true"::equals);

    public static final Format<Path> DIRECTORY = new Format<>("DIR", "a path", Formats::path);

    public static final Format<Path> FILE = new Format<>("PATH", "a path", Formats::path);

    /** A host name or an IP address without brackets. */
    public static final Format<String> HOST =
            new Format<>("HOST", "a host name, an IPv4 address, or an IPv6 address", HostPort::requireHost);

    private Formats() {}

    /** A whole number between two bounds, both included. */
    public static Format<Integer> integer(String label, int min, int max) {
        return new Format<>(label, "a whole number from " + min + " to " + max, text -> {
            int value = Integer.parseInt(text);
            if (value < min || value > max) {
                throw new IllegalArgumentException();
            }
            return value;
        });
    }

    /** Values of one format separated by commas: at least one, none twice. */
    public static <T> Format<List<T>> listOf(Format<T> element) {
        return new Format<>(
                element.label() + "[," + element.label() + "...]",
                "a list separated by commas without repetition, each " + element.allowed(),
                text -> list(element, text));
    }

    /** A set of words of an enum in lower case, separated by commas. */
    public static <E extends Enum<E>> Format<Set<E>> wordsOf(String label, Class<E> type) {
        Format<List<E>> words = listOf(new Format<>(
                label,
                Arrays.stream(type.getEnumConstants())
                        .map(word -> word.name().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(" or ")),
                text -> word(type, text)));
        return new Format<>(words.label(), words.allowed(), text -> new LinkedHashSet<>(words.parse(text)));
    }

    /** One of these words. */
    public static <T> Format<T> oneOf(String label, List<String> words, Function<String, T> value) {
        return new Format<>(label, String.join(" or ", words), text -> {
            if (!words.contains(text)) {
                throw new IllegalArgumentException();
            }
            return value.apply(text);
        });
    }

    private static <E extends Enum<E>> E word(Class<E> type, String text) {
        return Arrays.stream(type.getEnumConstants())
                .filter(word -> word.name().toLowerCase(Locale.ROOT).equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("'" + text + "' is none"));
    }

    private static <T> List<T> list(Format<T> element, String text) {
        String[] parts = text.split(",", -1);
        if (parts.length > LIST_MAX) {
            throw new IllegalArgumentException("it has " + parts.length + " elements, at most " + LIST_MAX + " may be");
        }
        Set<T> values = new LinkedHashSet<>();
        for (String part : parts) {
            if (!values.add(element.parse(part))) {
                throw new IllegalArgumentException(part + " stands in it twice");
            }
        }
        return List.copyOf(values);
    }

    private static UUID uuid(String text) {
        if (!CANONICAL_UUID.matcher(text).matches()) {
            throw new IllegalArgumentException();
        }
        UUID uuid = UUID.fromString(text);
        if (uuid.getMostSignificantBits() == 0 && uuid.getLeastSignificantBits() == 0) {
            throw new IllegalArgumentException();
        }
        return uuid;
    }

    private static String name(String text) {
        if (!NAME.matcher(text).matches()) {
            throw new IllegalArgumentException();
        }
        return text;
    }

    private static double ratio(String text) {
        // Not Double.parseDouble: it takes "NaN", "0x1p-1" and "1d".
        double value = new BigDecimal(text).doubleValue();
        if (!(value > 0 && value <= 1)) {
            throw new IllegalArgumentException();
        }
        return value;
    }

    private static Path path(String text) {
        try {
            if (text.isBlank()) {
                throw new IllegalArgumentException("it is empty");
            }
            return Path.of(text);
        } catch (InvalidPathException e) {
            throw new IllegalArgumentException(e.getReason(), e);
        }
    }
}
