// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import dev.kvpool.identity.text.Quoted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads settings from flags, then the environment, then defaults, and collects everything that is wrong. */
public final class SettingsReader {
    private final Map<String, String> flags;
    private final Map<String, String> environment;
    private final List<String> problems = new ArrayList<>();

    /**
     * A reader of these sources.
     *
     * @param flags what was given on the command line, by name without dashes
     * @param environment variables that are meant for kvpool, see {@link KvpoolEnvironment}
     */
    public SettingsReader(Map<String, String> flags, Map<String, String> environment) {
        this.flags = flags;
        this.environment = environment;
    }

    /** Adds what was found wrong before, so that everything is reported together. */
    public SettingsReader alsoReport(List<String> found) {
        problems.addAll(found);
        return this;
    }

    /**
     * The values of the settings.
     *
     * @throws UsageException with every problem found
     */
    public Settings read(List<Setting<?>> settings, List<Rule> rules) throws UsageException {
        Map<Setting<?>, Object> values = new HashMap<>();
        List<Setting<?>> broken = new ArrayList<>();
        for (Setting<?> setting : settings) {
            readOne(setting, values, broken);
        }
        Settings read = new Settings(values);
        for (Rule rule : rules) {
            boolean told = rule.settings().stream().anyMatch(broken::contains);
            if (!told && !rule.holds().test(read)) {
                problems.add(rule.problem());
            }
        }
        if (!problems.isEmpty()) {
            throw new UsageException(problems);
        }
        return read;
    }

    private void readOne(Setting<?> setting, Map<Setting<?>, Object> values, List<Setting<?>> broken) {
        String text = flags.get(setting.name());
        String source = setting.flag();
        if (text == null) {
            text = environment.get(setting.environmentVariable());
            source = setting.environmentVariable() + " (environment)";
        }
        if (text == null) {
            text = setting.defaultText().orElse(null);
        }
        if (text == null && setting.required()) {
            problems.add(setting.flag() + " (or " + setting.environmentVariable() + ") is missing; allowed is "
                    + setting.format().allowed());
            broken.add(setting);
        }
        if (text != null) {
            parse(setting, source, text, values, broken);
        }
    }

    private void parse(
            Setting<?> setting, String source, String text, Map<Setting<?>, Object> values, List<Setting<?>> broken) {
        try {
            values.put(setting, setting.format().parse(text));
        } catch (IllegalArgumentException e) {
            // A NumberFormatException is an IllegalArgumentException whose message helps nobody.
            boolean told = e.getMessage() != null && !(e instanceof NumberFormatException);
            problems.add(source + " is '" + Quoted.cut(text) + "'" + (told ? ", " + Quoted.cut(e.getMessage()) : "")
                    + "; allowed is " + setting.format().allowed());
            broken.add(setting);
        }
    }
}
