// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What the operator is told at start, by environment variables: KVPOOL_IMAGE for {@link #image()}, and so on. */
@ConfigMapping(prefix = "kvpool")
public interface OperatorConfig {
    /** Image of masters and storage nodes for pools that name none. */
    @WithDefault("kvpool:0.1.0")
    String image();

    /** Product version of that image. */
    @WithDefault("0.1.0")
    String version();

    /** Name of this process in events. */
    @WithDefault("${HOSTNAME:kvpool-operator}")
    String instance();

    /** Namespace of the Lease by which several operators elect the one that works: their own. */
    @WithDefault("default")
    String leaderElectionNamespace();

    /** Its own ServiceAccount, by which masters of secure pools know it. */
    @WithDefault("kvpool")
    String serviceAccount();

    /** Keys of taints of Kubernetes nodes on which storage nodes are emptied, as on a cordoned one. */
    Optional<List<String>> drainTaints();

    /** Whether the cluster gives pods their user, group and file system group, and refuses others, as OpenShift does. */
    @WithDefault("false")
    boolean platformUser();

    /** Whether storage nodes on NPUs that are not well are emptied. */
    DeviceHealth deviceHealth();

    /** KVPOOL_DEVICE_HEALTH_ENABLED. */
    interface DeviceHealth {
        /** Whether the ConfigMaps of Ascend's device plugin are read. */
        @WithDefault("false")
        boolean enabled();
    }

    /** How certificate authorities of pools follow each other. */
    Authorities authorities();

    /** KVPOOL_AUTHORITIES_LIFE and so on: a number and s, m, h or d, or an ISO 8601 duration. */
    interface Authorities {
        /** Life of each. */
        @WithDefault("365d")
        Duration life();

        /** So long before its end the next one is made. */
        @WithDefault("30d")
        Duration renewBefore();

        /** So long clients have time to trust the next one. */
        @WithDefault("24h")
        Duration clientWait();

        /** So long the previous one is trusted, once all masters sign with the next. */
        @WithDefault("25h")
        Duration keepPrevious();
    }

    /** How pools are brought to what this operator makes of specs that an earlier one made other pods of. */
    Rollout rollout();

    /** KVPOOL_ROLLOUT_POOLS and so on. */
    interface Rollout {
        /** How many pools at a time. */
        @WithDefault("1")
        int pools();

        /** Whether storage nodes whose volume outlives them are replaced for it without being asked. */
        @WithDefault("false")
        boolean storageVolumes();
    }
}
