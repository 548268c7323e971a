// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.agent;

import dev.kvpool.dataplane.config.Durations;
import dev.kvpool.dataplane.config.Format;
import dev.kvpool.dataplane.config.Formats;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.config.Rule;
import dev.kvpool.dataplane.config.Setting;
import dev.kvpool.dataplane.config.Settings;
import dev.kvpool.dataplane.config.Sizes;
import dev.kvpool.dataplane.enrol.SelfEnrolment;
import dev.kvpool.dataplane.http.AdminPorts;
import dev.kvpool.dataplane.secure.TlsSettings;
import dev.kvpool.dataplane.version.ProductVersion;
import dev.kvpool.nativelib.AgentParameters;
import dev.kvpool.nativelib.Protocol;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** What can be set on {@code kvpool agent}. */
public final class AgentSettings {
    private static final Format<Duration> TIMEOUTS = Durations.between(Duration.ofMillis(10), Duration.ofHours(1));

    public static final Setting<List<HostPort>> MASTERS =
            Setting.required("masters", HostPort.LIST, "All masters of the pool.");

    public static final Setting<Path> SOCKET_DIR = Setting.required(
            "socket-dir",
            Formats.DIRECTORY,
            "Existing directory that this process and its clients share; the socket in it is agent.sock.");

    public static final Setting<String> ABSTRACT_SOCKET = Setting.optional(
            "abstract-socket",
            new Format<>("NAME", "1 to 100 letters, digits, '-', '.' and '_'", AgentSettings::abstractName),
            "Name of a second socket, an abstract one: clients of the same user and network namespace find it as @NAME"
                    + " without a directory in common.");

    public static final Setting<Long> STAGING_SIZE = Setting.withDefault(
            "staging-size",
            Sizes.between(1L << 20, 64L << 40),
            "1GiB",
            "Upper limit of the memory that all clients together share with this agent; pages that values were read"
                    + " into count against this process.");

    public static final Setting<String> HOST = Setting.withDefault(
            "host", Formats.HOST, "::", "Address to listen on for HTTP; :: means all addresses of both families.");

    public static final Setting<Integer> ADMIN_PORT = Setting.withDefault(
            "admin-port",
            Formats.PORT_OR_ANY,
            "9401",
            "Port for HTTP: /healthz /readyz /health /metrics /metrics/summary /version /api/v1/agent.");

    public static final Setting<Integer> SECURE_ADMIN_PORT = TlsSettings.secureAdminPort("9643");

    public static final Setting<Set<Protocol>> PROTOCOLS = Setting.withDefault(
            "protocols",
            Formats.wordsOf("PROTOCOL", Protocol.class),
            "shm,tcp",
            "Protocols to use with storage nodes.");

    public static final Setting<Duration> CONNECT_TIMEOUT = Setting.withDefault(
            "connect-timeout", TIMEOUTS, "3s", "Timeout of one attempt to connect to a master or node.");

    public static final Setting<Duration> TRANSFER_TIMEOUT = Setting.withDefault(
            "transfer-timeout", TIMEOUTS, "30s", "A transfer or response without progress for this long is aborted.");

    public static final List<Setting<?>> ALL = Stream.concat(
                    Stream.<Setting<?>>of(
                            MASTERS,
                            SOCKET_DIR,
                            ABSTRACT_SOCKET,
                            STAGING_SIZE,
                            HOST,
                            ADMIN_PORT,
                            SECURE_ADMIN_PORT,
                            PROTOCOLS,
                            CONNECT_TIMEOUT,
                            TRANSFER_TIMEOUT,
                            TlsSettings.DIRECTORY,
                            TlsSettings.MODE),
                    SelfEnrolment.SETTINGS.stream())
            .toList();

    public static final List<Rule> RULES = Stream.of(
                    TlsSettings.RULES,
                    SelfEnrolment.RULES,
                    List.of(TlsSettings.secureAdminPortDiffers(SECURE_ADMIN_PORT, List.of(ADMIN_PORT))))
            .flatMap(List::stream)
            .toList();

    private AgentSettings() {}

    private static String abstractName(String text) {
        if (!text.matches("[A-Za-z0-9._-]{1,100}")) {
            throw new IllegalArgumentException();
        }
        return text;
    }

    static AdminPorts adminPorts(Settings settings) {
        return new AdminPorts(settings.get(HOST), settings.get(ADMIN_PORT), settings.get(SECURE_ADMIN_PORT));
    }

    static AgentParameters parameters(Settings settings) {
        return new AgentParameters(
                HostPort.join(settings.get(MASTERS)),
                SocketDirectory.socket(settings.get(SOCKET_DIR)),
                settings.find(ABSTRACT_SOCKET).orElse(null),
                null,
                settings.get(STAGING_SIZE),
                settings.get(PROTOCOLS),
                settings.get(CONNECT_TIMEOUT),
                settings.get(TRANSFER_TIMEOUT),
                ProductVersion.text(),
                TlsSettings.place(settings).forLibrary());
    }
}
