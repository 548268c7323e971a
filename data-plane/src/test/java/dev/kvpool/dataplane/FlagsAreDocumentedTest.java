// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.config.CacheSettings;
import dev.kvpool.dataplane.config.Setting;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** docs/reference/flags.md lists every flag of every command. */
class FlagsAreDocumentedTest {
    @Test
    void thePageIsCurrent() throws IOException {
        GeneratedPage.assertCurrent("flags.md", page());
    }

    private static String page() {
        StringBuilder text = new StringBuilder("""
                # Flags of kvpool

                Generated from the settings of each command; a test fails when this page is stale. Each flag has an environment
                variable: `--data-dir` is `KVPOOL_DATA_DIR`. A flag wins over its variable. Exit codes: 0 success, 1 failure, 2 wrong
                flags or variables, 70 the process found its own state broken, or hung, and ended. Flags marked *live* can be changed
                while a master runs: by `--cache-rules-file`, see [cache rules](../guide/local.md#cache-rules).
                """);
        Kvpool.COMMANDS.forEach(command -> append(text, command));
        return text.toString();
    }

    private static void append(StringBuilder text, Command command) {
        text.append("\n## kvpool ").append(command.name()).append("\n\n").append(command.summary());
        text.append("\n");
        if (command.settings().stream().allMatch(Setting::hidden)) {
            return;
        }
        text.append("\n| flag | value | default | meaning |\n|---|---|---|---|\n");
        for (Setting<?> setting : command.settings()) {
            if (!setting.hidden()) {
                text.append("| `%s` | %s | %s | %s%s |\n"
                        .formatted(
                                setting.flag(),
                                cell(setting.format().allowed()),
                                byDefault(setting),
                                cell(setting.help()),
                                CacheSettings.LIVE.contains(setting) ? " *live*" : ""));
            }
        }
    }

    private static String byDefault(Setting<?> setting) {
        return setting.required()
                ? "required"
                : setting.defaultText()
                        .filter(value -> !value.isEmpty())
                        .map(value -> "`" + value + "`")
                        .orElse("");
    }

    private static String cell(String text) {
        return text.replace("|", "\\|");
    }
}
