// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.util.Locale;
import java.util.Optional;

/**
 * One thing a user can set: by a flag, or by an environment variable when the flag is not given.
 *
 * @param name name of the flag without dashes
 * @param format how its text is read
 * @param defaultText used when nothing is given; empty for a setting without default
 * @param required whether something must be given
 * @param hidden whether the help leaves it out, for what kvpool passes to its own children
 * @param help one sentence for the help
 */
public record Setting<T>(
        String name, Format<T> format, Optional<String> defaultText, boolean required, boolean hidden, String help) {

    public Setting {
        defaultText.ifPresent(format::parse);
    }

    public static <T> Setting<T> required(String name, Format<T> format, String help) {
        return new Setting<>(name, format, Optional.empty(), true, false, help);
    }

    public static <T> Setting<T> optional(String name, Format<T> format, String help) {
        return new Setting<>(name, format, Optional.empty(), false, false, help);
    }

    public static <T> Setting<T> withDefault(String name, Format<T> format, String defaultText, String help) {
        return new Setting<>(name, format, Optional.of(defaultText), false, false, help);
    }

    /** A flag without value that is off unless given. */
    public static Setting<Boolean> onOff(String name, String help) {
        return withDefault(name, Formats.SWITCH, "false", help);
    }

    /** The same for a command that cannot do without. */
    public Setting<T> asRequired() {
        return new Setting<>(name, format, defaultText, true, hidden, help);
    }

    public Setting<T> asHidden() {
        return new Setting<>(name, format, defaultText, required, true, help);
    }

    public String flag() {
        return "--" + name;
    }

    public String environmentVariable() {
        return "KVPOOL_" + name.toUpperCase(Locale.ROOT).replace('-', '_');
    }

    /** Whether the flag stands alone, without a value. */
    public boolean isOnOff() {
        return format.equals(Formats.SWITCH);
    }
}
