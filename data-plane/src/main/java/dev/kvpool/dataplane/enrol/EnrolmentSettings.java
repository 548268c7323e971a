// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import dev.kvpool.dataplane.config.Durations;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.secure.TlsMode;
import dev.kvpool.dataplane.secure.TlsSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What a master that gives certificates, or takes tokens in place of them, is told. */
public final class EnrolmentSettings {
    static final Setting<Path> AUTHORITY = Setting.optional(
            "ca-dir",
            Formats.DIRECTORY,
            "Directory with ca.crt and ca.key of the pool's authority, such as `kvpool cert init` makes: this master then gives"
                    + " certificates to those whose ServiceAccount tokens --enrolment names, and signs its own where there is no --tls-dir.");

    static final Setting<Path> RULES_FILE = Setting.optional(
            "enrolment",
            Formats.FILE,
            "File with one line for each ServiceAccount whose tokens are taken: NAMESPACE/ACCOUNT and node, node SET, agent, operator,"
                    + " monitor, admin, tenant TENANT rw|ro, or none; NAMESPACE/* is all others of a namespace, for tenants. Without --ca-dir only"
                    + " operators, admins and monitors count: their tokens stand for certificates over HTTPS. Reread when it changes.");

    static final Setting<Path> TOKEN_KEYS = Setting.optional(
            "token-keys",
            Formats.FILE,
            "File with the JSON Web Key Set by which tokens are verified. Default: that of the API server, which each ServiceAccount may read"
                    + " where Kubernetes' own roles are in place.");

    /** So long previous authorities are trusted at least. */
    public static final Duration LIFE_MAX = Duration.ofHours(24);

    private static final Duration LIFE_MIN = Duration.ofMinutes(1);

    static final Setting<Duration> LIFE = Setting.withDefault(
            "certificate-life",
            Durations.between(LIFE_MIN, LIFE_MAX),
            Durations.format(LIFE_MAX),
            "With --ca-dir: how long the certificates live that this master signs, its own included; those of tenants and admins 1h at most."
                    + " Each is renewed at half of that. Of a process that finds no master until the end, all connections end.");

    public static final List<Setting<?>> ALL = List.of(AUTHORITY, RULES_FILE, TOKEN_KEYS, LIFE);

    public static final List<Rule> RULES = List.of(
            new Rule(
                    List.of(AUTHORITY, RULES_FILE),
                    values -> values.find(AUTHORITY).isEmpty()
                            || values.find(RULES_FILE).isPresent(),
                    "give --enrolment with --ca-dir: one signs, the other says for whom"),
            new Rule(
                    List.of(AUTHORITY, RULES_FILE, TlsSettings.MODE, TlsSettings.DIRECTORY),
                    values -> values.find(RULES_FILE).isEmpty()
                            || values.find(AUTHORITY).isPresent()
                            || TlsSettings.place(values).used().isPresent(),
                    "--enrolment needs --ca-dir, by which this master signs certificates, or --tls-dir and --tls permissive or required:"
                            + " then it takes tokens of operators, admins and monitors over HTTPS, and signs nothing"),
            new Rule(
                    List.of(AUTHORITY, TlsSettings.MODE, TlsSettings.DIRECTORY),
                    values -> TlsSettings.place(values).mode() == TlsMode.OFF
                            || values.find(AUTHORITY).isPresent()
                            || values.find(TlsSettings.DIRECTORY).isPresent(),
                    "--tls permissive and --tls required need a certificate: give --tls-dir, see `kvpool cert issue --help`, or --ca-dir and"
                            + " --enrolment, by which a master signs its own"),
            new Rule(
                    List.of(AUTHORITY, TlsSettings.MODE, TlsSettings.DIRECTORY),
                    values -> values.find(AUTHORITY).isEmpty()
                            || TlsSettings.place(values).mode() != TlsMode.OFF,
                    "--ca-dir needs --tls permissive or required: tokens are taken over HTTPS only"));

    /**
     * Where a master finds what it needs to give certificates, or to take tokens.
     *
     * @param authority directory of the CA; empty where it signs nothing
     * @param rules file of names
     * @param tokenKeys file of a key set; empty for the API server's
     * @param life of the certificates that it signs
     */
    public record Place(Optional<Path> authority, Path rules, Optional<Path> tokenKeys, Duration life) {}

    private EnrolmentSettings() {}

    /** Empty for a master that takes no tokens. */
    public static Optional<Place> place(Settings settings) {
        return settings.find(RULES_FILE)
                .map(rules ->
                        new Place(settings.find(AUTHORITY), rules, settings.find(TOKEN_KEYS), settings.get(LIFE)));
    }
}
