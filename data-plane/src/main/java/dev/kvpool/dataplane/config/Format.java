// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.util.function.Function;

/**
 * How the text of a setting becomes a value.
 *
 * @param label placeholder in the help, such as DURATION
 * @param allowed what may be written, as the end of the sentence "allowed is ..."
 * @param parser gives the value, or throws IllegalArgumentException; its message, when it has one, names what is wrong
 */
public record Format<T>(String label, String allowed, Function<String, T> parser) {

    /** The value of the text. */
    T parse(String text) {
        return parser.apply(text);
    }
}
