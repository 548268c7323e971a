// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;

/** The values of a command's settings, all of them read and checked. */
public final class Settings {
    private final Map<Setting<?>, Object> values;

    Settings(Map<Setting<?>, Object> values) {
        this.values = Map.copyOf(values);
    }

    /** The value of a setting that is required or has a default. */
    public <T> T get(Setting<T> setting) {
        return find(setting).orElseThrow(() -> new NoSuchElementException(setting.flag() + " has no value"));
    }

    /** The value of a setting, empty when it was not given and has no default. */
    @SuppressWarnings("unchecked") // SettingsReader stores for each setting what its own format gave
    public <T> Optional<T> find(Setting<T> setting) {
        return Optional.ofNullable((T) values.get(setting));
    }
}
