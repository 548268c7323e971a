// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.secure;

import dev.kvpool.dataplane.config.Format;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.nativelib.Payloads;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

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
                    + " it trusts. Looked at every 10 s, as is the file names in the directory with the same name and .names behind it, which says"
                    + " what certificates that name ServiceAccounts stand for.");

    public static final Setting<TlsMode> MODE = Setting.optional(
            "tls",
            MODES,
            "off: plain connections; permissive: plain and TLS connections are accepted, and TLS is dialled; required: TLS only."
                    + " Default: required with --tls-dir, else off.");

    public static final Setting<Payloads> PAYLOADS = Setting.withDefault(
            "payloads",
            Formats.oneOf(
                    "WORD",
                    Arrays.stream(Payloads.values())
                            .map(one -> one.name().toLowerCase(Locale.ROOT))
                            .toList(),
                    text -> Payloads.valueOf(text.toUpperCase(Locale.ROOT))),
            "encrypted",
            "Connections between clients and storage nodes, and between storage nodes. encrypted: TLS; authenticated: certificates are"
                    + " checked, then TLS ends, so that keys and values can be read and changed on the network, and go as they do"
                    + " without TLS. Who dials may insist on encrypted. Connections with masters are always encrypted.");

    public static final List<Setting<?>> ALL = List.of(DIRECTORY, MODE);

    public static final List<Rule> RULES = List.of(new Rule(
            List.of(DIRECTORY, MODE),
            values -> mode(values) == TlsMode.OFF || values.find(DIRECTORY).isPresent(),
            "--tls permissive and --tls required need a certificate: give --tls-dir, see `kvpool cert issue --help`"));

    private TlsSettings() {}

    /**
     * The port of admin HTTPS.
     *
     * @param defaultPort that collides with no other port of kvpool
     */
    public static Setting<Integer> secureAdminPort(String defaultPort) {
        return Setting.withDefault(
                "secure-admin-port",
                Formats.PORT_OR_ANY,
                defaultPort,
                "Port for admin HTTPS with rights by certificate, open unless TLS is off. With --tls required, --admin-port keeps only health,"
                        + " version and metrics.");
    }

    /** Of commands with {@link #PAYLOADS}. */
    public static Rule payloadsNeedTls() {
        return new Rule(
                List.of(PAYLOADS, MODE, DIRECTORY),
                values -> values.get(PAYLOADS) == Payloads.ENCRYPTED || mode(values) != TlsMode.OFF,
                "--payloads authenticated needs TLS, by which peers are authenticated: give --tls-dir, see `kvpool cert issue --help`");
    }

    /** Where a port that is in use already is chosen again. */
    public static Rule secureAdminPortDiffers(Setting<Integer> secure, List<Setting<Integer>> others) {
        List<Setting<?>> settings = new ArrayList<>(List.of(secure, MODE, DIRECTORY));
        settings.addAll(others);
        return new Rule(
                settings,
                values -> mode(values) == TlsMode.OFF
                        || values.get(secure) == 0
                        || others.stream().noneMatch(other -> values.get(other).equals(values.get(secure))),
                secure.flag() + " must differ from "
                        + others.stream().map(Setting::flag).collect(Collectors.joining(" and ")));
    }

    /** What was asked for; the directory is not looked at. */
    public static TlsPlace place(Settings settings) {
        return new TlsPlace(settings.find(DIRECTORY).map(Path::toAbsolutePath), mode(settings));
    }

    private static TlsMode mode(Settings settings) {
        return settings.find(MODE).orElse(settings.find(DIRECTORY).isPresent() ? TlsMode.REQUIRED : TlsMode.OFF);
    }
}
