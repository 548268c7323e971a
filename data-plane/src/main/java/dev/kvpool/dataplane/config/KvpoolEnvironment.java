// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The environment variables that begin with KVPOOL_, sorted by what they are. Those of other programs are nobody's business here:
 * a shell from which an engine is started has the variables of the Python client.
 *
 * <p>Kubernetes sets variables for every Service of a namespace unless a pod says {@code enableServiceLinks: false}. A
 * Service called {@code kvpool-leader} gives KVPOOL_LEADER_SERVICE_HOST and the like, and one called {@code kvpool} even
 * KVPOOL_PORT=tcp://10.0.0.1:50051, which is the name of a setting. Those are told apart by name and value and ignored.
 *
 * @param settings variables to read settings from
 * @param serviceLinks names of the variables that Kubernetes made for Services
 * @param misspellings variables that have no effect and are probably misspelt
 */
public record KvpoolEnvironment(
        Map<String, String> settings, List<String> serviceLinks, List<Misspelling> misspellings) {
    private static final String PREFIX = "KVPOOL_";

    /** Where libkvpool finds libraries of others, in each process that loads it. */
    public static final Set<String> OF_THE_LIBRARY = Set.of("KVPOOL_ASCEND_LIBRARY_DIR", "KVPOOL_UCX_LIBRARY");

    /** What the Python client, libkvpool and the operator read, which is never a misspelling. */
    private static final Set<String> OF_OTHER_PROGRAMS = Set.of(
            "KVPOOL_ASCEND_LIBRARY_DIR",
            "KVPOOL_AUTHORITIES_CLIENT_WAIT",
            "KVPOOL_AUTHORITIES_KEEP_PREVIOUS",
            "KVPOOL_AUTHORITIES_LIFE",
            "KVPOOL_AUTHORITIES_RENEW_BEFORE",
            "KVPOOL_BUSY_WAIT",
            "KVPOOL_COMMAND",
            "KVPOOL_CONNECT_TIMEOUT",
            "KVPOOL_DEVICE_HEALTH_ENABLED",
            "KVPOOL_DRAIN_TAINTS",
            "KVPOOL_ENGINE_PAYLOADS",
            "KVPOOL_ENGINE_SAME_MACHINE",
            "KVPOOL_IDENTITY_DIR",
            "KVPOOL_IDLE_TIMEOUT",
            "KVPOOL_IMAGE",
            "KVPOOL_INCLUDE",
            "KVPOOL_INSTANCE",
            "KVPOOL_LEADER_ELECTION_NAMESPACE",
            "KVPOOL_LIBRARY",
            "KVPOOL_LMCACHE_L2",
            "KVPOOL_PAYLOADS",
            "KVPOOL_PLATFORM_USER",
            "KVPOOL_PLUGIN_SETTINGS",
            "KVPOOL_PROTOCOLS",
            "KVPOOL_PROTOCOL_OVERRIDE",
            "KVPOOL_RETRY_DEADLINE",
            "KVPOOL_REUSE",
            "KVPOOL_ROLLOUT_POOLS",
            "KVPOOL_ROLLOUT_STORAGE_VOLUMES",
            "KVPOOL_SOCKET_DIR",
            "KVPOOL_TLS_DIR",
            "KVPOOL_TRANSFER_TIMEOUT",
            "KVPOOL_TRUSTED_FABRIC",
            "KVPOOL_UCX_LIBRARY",
            "KVPOOL_VERSION");

    private static final Pattern SERVICE_NAME =
            Pattern.compile("KVPOOL_(.*_)?(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT_[0-9]+_(TCP|UDP|SCTP)(_.*)?)");

    private static final Pattern SERVICE_VALUE = Pattern.compile("(tcp|udp|sctp)://.*");

    /**
     * Sorts the variables of a process.
     *
     * @param environment all variables of the process
     * @param known the settings of all commands: a pod may set variables for more than one
     */
    public static KvpoolEnvironment of(Map<String, String> environment, Collection<Setting<?>> known) {
        List<String> names = known.stream().map(Setting::environmentVariable).toList();
        Map<String, String> settings = new TreeMap<>();
        List<String> serviceLinks = new ArrayList<>();
        List<Misspelling> misspellings = new ArrayList<>();
        new TreeMap<>(environment).forEach((name, value) -> {
            if (!name.startsWith(PREFIX)) {
                return;
            }
            if (isServiceLink(name, value)) {
                serviceLinks.add(name);
            } else if (names.contains(name)) {
                settings.put(name, value);
            } else if (!OF_OTHER_PROGRAMS.contains(name)) {
                Misspelling.find(name, names, PREFIX).ifPresent(misspellings::add);
            }
        });
        return new KvpoolEnvironment(settings, serviceLinks, misspellings);
    }

    private static boolean isServiceLink(String name, String value) {
        return SERVICE_NAME.matcher(name).matches()
                || (name.endsWith("_PORT") && SERVICE_VALUE.matcher(value).matches());
    }
}
