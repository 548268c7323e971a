// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.audit;

import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import java.util.List;

/** Whether a master writes an audit log. */
public final class AuditSettings {
    static final Setting<Boolean> LOG = Setting.withDefault(
            "audit-log",
            Formats.oneOf("on|off", List.of("on", "off"), "on"::equals),
            "on",
            "on: the log gets a line of JSON, marked Audit, for each request of admin HTTP that changes something, for each certificate, and for"
                    + " refusals, of which ten a second. Hints of callers without a certificate or token are left out.");

    public static final List<Setting<?>> ALL = List.of(LOG);

    private AuditSettings() {}

    public static boolean isOn(Settings settings) {
        return settings.get(LOG);
    }
}
