// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator;

import dev.kvpool.operator.event.EventRecorder;
import dev.kvpool.operator.master.HttpMasterClient;
import dev.kvpool.operator.master.MasterClient;
import dev.kvpool.operator.pool.OperatorSettings;
import dev.kvpool.operator.pool.PollInterval;
import dev.kvpool.operator.pool.PoolNames;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfigurationBuilder;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetricsV2;
import io.micrometer.core.instrument.MeterRegistry;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.time.InstantSource;

/** Puts the operator's parts together. */
public class OperatorBeans {
    private static final String LEADER_ELECTION_LEASE = "kvpool-operator";

    @Produces
    @Singleton
    InstantSource clock() {
        return InstantSource.system();
    }

    @Produces
    @Singleton
    OperatorSettings settings(OperatorConfig config) {
        return new OperatorSettings(config.image(), config.version(), config.leaderElectionNamespace());
    }

    @Produces
    @Singleton
    PollInterval pollInterval() {
        return PollInterval.DEFAULT;
    }

    @Produces
    @Singleton
    MasterClient masterClient() {
        return new HttpMasterClient(PoolNames.MASTER_ADMIN_PORT);
    }

    @Produces
    @Singleton
    EventRecorder eventRecorder(KubernetesClient client, InstantSource clock, OperatorConfig config) {
        return new EventRecorder(client, clock, config.instance());
    }

    /** All replicas fill their caches, so that the next leader starts warm; only the leader changes anything. */
    @Produces
    @Singleton
    LeaderElectionConfiguration leaderElection(OperatorConfig config) {
        return LeaderElectionConfigurationBuilder.aLeaderElectionConfiguration(LEADER_ELECTION_LEASE)
                .withLeaseNamespace(config.leaderElectionNamespace())
                .withIdentity(config.instance())
                .build();
    }

    /** The extension's own choice counts nothing in production (its issue 1385). */
    @Produces
    @Singleton
    Metrics metrics(MeterRegistry registry) {
        return MicrometerMetricsV2.newBuilder(registry).build();
    }
}
