// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator;

import com.fasterxml.jackson.databind.DeserializationFeature;
import dev.kvpool.operator.event.recorder.EventRecorder;
import dev.kvpool.operator.health.CountersFromZero;
import dev.kvpool.operator.health.LostWatchCheck;
import dev.kvpool.operator.health.ReconciliationWatch;
import dev.kvpool.operator.health.StuckReconcilerCheck;
import dev.kvpool.operator.master.MasterClient;
import dev.kvpool.operator.master.http.HttpMasterClient;
import dev.kvpool.operator.master.http.KeptTokens;
import dev.kvpool.operator.master.http.ServiceAccountTokens;
import dev.kvpool.operator.memory.SharedFields;
import dev.kvpool.operator.memory.ShortPods;
import dev.kvpool.operator.pool.naming.PoolNames;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.report.PollInterval;
import dev.kvpool.operator.pool.security.RotationTerms;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.javaoperatorsdk.operator.api.config.InformerStoppedHandler;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfiguration;
import io.javaoperatorsdk.operator.api.config.LeaderElectionConfigurationBuilder;
import io.javaoperatorsdk.operator.api.monitoring.AggregatedMetrics;
import io.javaoperatorsdk.operator.api.monitoring.Metrics;
import io.javaoperatorsdk.operator.monitoring.micrometer.MicrometerMetricsV2;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.arc.Unremovable;
import io.quarkus.kubernetes.client.KubernetesClientObjectMapperCustomizer;
import jakarta.enterprise.inject.Produces;
import jakarta.enterprise.inject.Typed;
import jakarta.inject.Singleton;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.IntStream;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.Liveness;

/** Puts the operator's parts together. */
public class OperatorBeans {
    private static final String LEADER_ELECTION_LEASE = "kvpool-operator";

    /** Each of its pools needs another one in less than this time, also while nothing changes. */
    private static final Duration LIFE_OF_TOKENS = Duration.ofHours(1);

    /** Finer than the SDK's own where reconciliations of a calm pool are. */
    private static final Duration[] RECONCILIATION_BOUNDS = IntStream.of(
                    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000)
            .mapToObj(Duration::ofMillis)
            .toArray(Duration[]::new);

    @Produces
    @Singleton
    InstantSource clock() {
        return InstantSource.system();
    }

    @Produces
    @Singleton
    OperatorSettings settings(OperatorConfig config) {
        return new OperatorSettings(
                config.image(),
                config.version(),
                config.leaderElectionNamespace(),
                config.serviceAccount(),
                config.drainTaints().orElse(List.of()),
                config.platformUser(),
                config.deviceHealth().enabled(),
                new RotationTerms(
                        config.authorities().life(),
                        config.authorities().renewBefore(),
                        config.authorities().clientWait(),
                        config.authorities().keepPrevious()),
                new OperatorSettings.RolloutTerms(
                        config.rollout().pools(), config.rollout().storageVolumes()));
    }

    @Produces
    @Singleton
    PollInterval pollInterval() {
        return PollInterval.DEFAULT;
    }

    @Produces
    @Singleton
    MasterClient masterClient(KubernetesClient client, OperatorConfig config, InstantSource clock) {
        return new HttpMasterClient(
                PoolNames.MASTER_ADMIN_PORT,
                PoolNames.SECURE_ADMIN_PORT,
                new KeptTokens(
                        new ServiceAccountTokens(
                                client, config.leaderElectionNamespace(), config.serviceAccount(), LIFE_OF_TOKENS),
                        clock));
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
        return election(config.leaderElectionNamespace(), config.instance()).build();
    }

    /**
     * How operators elect one of them.
     *
     * @param namespace of the Lease
     * @param instance name of this process, which no other has
     */
    public static LeaderElectionConfigurationBuilder election(String namespace, String instance) {
        return LeaderElectionConfigurationBuilder.aLeaderElectionConfiguration(LEADER_ELECTION_LEASE)
                .withLeaseNamespace(namespace)
                .withIdentity(instance);
    }

    @Produces
    @Singleton
    KubernetesClientObjectMapperCustomizer objectsOfTheCluster() {
        return mapper -> mapper.registerModules(SharedFields.module(), ShortPods.module())
                // Of a newer version, whose status this one reads after a rollback.
                .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES);
    }

    /** The extension's own choice counts nothing in production (its issue 1385). */
    @Produces
    @Singleton
    Metrics metrics(MeterRegistry registry, ReconciliationWatch watch) {
        Metrics counted = MicrometerMetricsV2.newBuilder(registry)
                .withExecutionTimerConfig(timer -> timer.serviceLevelObjectives(RECONCILIATION_BOUNDS))
                .build();
        return new AggregatedMetrics(List.of(counted, new CountersFromZero(registry), watch));
    }

    /** Not as one more Metrics: the extension wants exactly one. */
    @Produces
    @Singleton
    @Typed(ReconciliationWatch.class)
    ReconciliationWatch reconciliationWatch() {
        return new ReconciliationWatch(System::nanoTime);
    }

    @Produces
    @Singleton
    @Liveness
    StuckReconcilerCheck stuckReconcilerCheck(ReconciliationWatch watch) {
        return new StuckReconcilerCheck(watch);
    }

    /** The extension hands it to the SDK, and without one goes on when a watch has ended. */
    @Produces
    @Singleton
    @Liveness
    @Typed({LostWatchCheck.class, HealthCheck.class})
    LostWatchCheck lostWatchCheck() {
        return new LostWatchCheck();
    }

    /** The extension looks for it by name of its type, which the build does not take for a use. */
    @Produces
    @Singleton
    @Unremovable
    InformerStoppedHandler informerStoppedHandler(@Liveness LostWatchCheck lost) {
        return lost;
    }
}
