// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.dataplane.config.Format;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/** Certificates and encryption: settings that every command has which listens or dials. */
public final class TlsSettings {
    public static final Format<TlsMode> MODES = Formats.oneOf(
            "MODE",
            Arrays.stream(TlsMode.values()).map(TlsMode::word).toList(),
            text -> TlsMode.valueOf(text.toUpperCase(Locale.ROOT)));

    public static final Setting<Path> DIRECTORY = Setting.optional(
            "tls-dir",
            Formats.DIRECTORY,
            "Directory with tls.crt, tls.key and ca.crt, such as `kvpool cert issue` makes: the certificate of this process and the roots"
                    + " it trusts. Looked at every 10 s.");

    public static final Setting<TlsMode> MODE = Setting.optional(
            "tls",
            MODES,
            "off: plain connections; permissive: plain and TLS connections are accepted, and TLS is dialled; required: TLS only."
                    + " Default: required with --tls-dir, else off.");

    public static final List<Setting<?>> ALL = List.of(DIRECTORY, MODE);

    public static final List<Rule> RULES = List.of(new Rule(
            List.of(DIRECTORY, MODE),
            values -> mode(values) == TlsMode.OFF || values.find(DIRECTORY).isPresent(),
            "--tls permissive and --tls required need a certificate: give --tls-dir, see `kvpool cert issue --help`"));

    private TlsSettings() {}

    /** What was asked for; the directory is not looked at. */
    public static TlsPlace place(Settings settings) {
        return new TlsPlace(settings.find(DIRECTORY).map(Path::toAbsolutePath), mode(settings));
    }

    private static TlsMode mode(Settings settings) {
        return settings.find(MODE).orElse(settings.find(DIRECTORY).isPresent() ? TlsMode.REQUIRED : TlsMode.OFF);
    }
}
