// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.status.LeaderStatus;
import dev.kvpool.api.v1alpha1.status.PoolPhase;
import dev.kvpool.api.v1alpha1.status.StepCause;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.ObservedPod;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code failover}: has the operator have the leader give its leadership to a standby. */
@Command(
        description = {
            "Has the leading master hand over to a standby, without a pod restarted: in its turn, once a standby knows what the leader"
                    + " knows, and nothing else of the pool is away.",
            "Sets the annotation kvpool.dev/failover of the KvCachePool to the leader's epoch."
        })
public final class FailoverCommand extends PoolCommand {
    private static final int SECONDS_MAX = 24 * 3600;

    private static final Duration LOOK = Duration.ofMillis(250);

    @Parameters(paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Option(
            names = "--seconds",
            paramLabel = "N",
            defaultValue = "60",
            description = "How long to wait until the request is taken back: 1 to 86400, 60 by default.")
    private int seconds;

    @Override
    protected void run(Cluster on, PrintWriter out) throws InterruptedException {
        if (seconds < 1 || seconds > SECONDS_MAX) {
            throw new PluginException("--seconds must be 1 to %d, not %d".formatted(SECONDS_MAX, seconds));
        }
        KvCachePool found = on.pool(pool);
        LeaderStatus before =
                found.getStatus() == null ? null : found.getStatus().leader();
        check(on, found, before);
        String request = Long.toString(before.epoch());
        on.annotate(found, PoolLabels.FAILOVER, request);
        LeaderStatus after = await(on, before, out);
        if (after.pod().equals(before.pod())) {
            takeBack(on, request);
            throw new PluginException("no other master took the leadership: %s leads again, in epoch %d"
                    .formatted(after.pod(), after.epoch()));
        }
        out.println("%s leads in epoch %d; before, %s did in epoch %d"
                .formatted(after.pod(), after.epoch(), before.pod(), before.epoch()));
        takeBack(on, request);
    }

    private void check(Cluster on, KvCachePool found, LeaderStatus before) {
        if (before == null) {
            throw new PluginException("no master of pool %s leads, so none can hand over".formatted(pool));
        }
        boolean other = on.pods(pool).stream()
                .map(ObservedPod::of)
                .anyMatch(pod -> pod.role().equals(PoolLabels.ROLE_MASTER)
                        && pod.ready()
                        && !pod.leaving()
                        && !pod.name().equals(before.pod()));
        if (!other) {
            throw new PluginException(
                    "pool %s has no other master that is ready to lead; `kubectl kvpool restart %s --role masters` replaces the leader itself"
                            .formatted(pool, pool));
        }
        if (found.getSpec().paused()) {
            throw new PluginException("pool %s is paused: nothing is handed over before `kubectl kvpool resume %s`"
                    .formatted(pool, pool));
        }
    }

    private LeaderStatus await(Cluster on, LeaderStatus before, PrintWriter out) throws InterruptedException {
        long endNanos = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
        String said = "";
        while (true) {
            KvCachePool seen = on.pool(pool);
            KvCachePoolStatus status = Optional.ofNullable(seen.getStatus()).orElse(KvCachePoolStatus.EMPTY);
            boolean serves = status.phase() != PoolPhase.UNAVAILABLE && status.phase() != PoolPhase.STARTING;
            if (status.leader() != null && status.leader().epoch() > before.epoch() && serves) {
                return status.leader();
            }
            Optional<StepStatus> step = status.steps().stream()
                    .filter(it -> it.because() == StepCause.REQUEST && it.of().equals(before.pod()))
                    .findFirst();
            String now = sentence(step);
            boolean failed = step.filter(it -> it.state() == StepState.FAILED).isPresent();
            if (failed || System.nanoTime() > endNanos) {
                takeBack(on, Long.toString(before.epoch()));
                throw new PluginException("%s; the request is taken back. `kubectl kvpool status %s` shows the pool"
                        .formatted(
                                failed ? now : "no other master serves after %d s: %s".formatted(seconds, now), pool));
            }
            if (!now.equals(said)) {
                out.println(now);
                out.flush();
                said = now;
            }
            Thread.sleep(LOOK);
        }
    }

    /** A value that stays would ask a pool of the same name that is made later, once it comes to that epoch. Another user's request stays. */
    private void takeBack(Cluster on, String request) {
        on.reannotate(
                pool,
                PoolLabels.FAILOVER,
                read -> Optional.ofNullable(read.getMetadata().getAnnotations())
                        .map(annotations -> annotations.get(PoolLabels.FAILOVER))
                        .filter(request::equals)
                        .map(ours -> ""));
    }

    private static String sentence(Optional<StepStatus> step) {
        return step.map(it -> switch (it.state()) {
                    case WAITING -> "it waits: " + it.waitsFor();
                    case FAILED -> it.waitsFor();
                    default -> it.of() + " hands its leadership over";
                })
                .orElse("the operator has not begun");
    }
}
