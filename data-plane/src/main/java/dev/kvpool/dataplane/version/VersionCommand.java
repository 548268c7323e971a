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
        return "Prints the product version and the supported ranges of wire, segment layout and C ABI.";
    }

    @Override
    public List<Setting<?>> settings() {
        return List.of(JSON);
    }

    @Override
    public int run(Settings settings, Console console) {
        Versions versions = Versions.ofThisBuild();
        console.out().println(settings.get(JSON) ? versions.json() : versions.text());
        return ExitCode.OK;
    }
}
