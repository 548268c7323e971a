// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.version;

import dev.kvpool.dataplane.cli.Command;
import dev.kvpool.dataplane.cli.Console;
import dev.kvpool.dataplane.cli.ExitCode;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import java.util.List;

/** {@code kvpool version}: what this build is and what it understands. */
public final class VersionCommand implements Command {
    private static final Setting<Boolean> JSON = Setting.onOff("json", "Print one line of JSON for programs.");

    @Override
    public String name() {
        return "version";
    }

    @Override
    public String summary() {
        return "Prints the product version, the supported ranges of wire, segment layout and C ABI, and what code of other"
                + " projects is linked in.";
    }

    @Override
    public List<Setting<?>> settings() {
        return List.of(JSON);
    }

    @Override
    public int run(Settings settings, Console console) {
        Versions versions = Versions.ofThisBuild();
        List<LinkedCode> linked = LinkedCode.ofThisBuild();
        if (settings.get(JSON)) {
            String numbers = versions.json();
            console.out()
                    .println(numbers.substring(0, numbers.length() - 1) + ",\"linked\":" + LinkedCode.json(linked)
                            + "}");
        } else {
            console.out().println(versions.text());
            console.out().println(LinkedCode.text(linked));
        }
        return ExitCode.OK;
    }
}
