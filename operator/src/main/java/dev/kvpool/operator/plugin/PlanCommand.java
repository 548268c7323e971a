// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin;

import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.operator.pool.OperatorSettings;
import dev.kvpool.operator.pool.Outcome;
import dev.kvpool.operator.pool.PoolObservation;
import dev.kvpool.operator.pool.PoolPlan;
import dev.kvpool.operator.pool.PoolPlanner;
import dev.kvpool.operator.pool.PoolStatus;
import dev.kvpool.operator.pool.PoolValidator;
import dev.kvpool.operator.status.Finding;
import java.io.PrintWriter;
import java.time.InstantSource;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code plan}: what the operator's own planning makes of the pool right now. Changes nothing. */
@Command(
        name = "plan",
        description =
                "Shows what the operator would do for a pool now, and why. Changes nothing: objects are applied as a dry run.")
final class PlanCommand extends PoolCommand {
    @Parameters(paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Option(
            names = "--operator-namespace",
            paramLabel = "NAME",
            description = "Where the operator runs; it is looked for otherwise.")
    private String operatorNamespace;

    @Mixin
    private OutputOptions output;

    @Override
    void run(Cluster on, PrintWriter out) {
        PlanView view = view(on, pool, on.operatorSettings(operatorNamespace));
        output.write(out, view, PlanText.of(view));
    }

    static PlanView view(Cluster on, String pool, OperatorSettings settings) {
        PoolObservation seen = on.observe(pool);
        List<Finding> problems = PoolValidator.validate(seen);
        PoolPlan plan = new PoolPlanner(settings).plan(seen, problems);
        KvCachePoolStatus next = new PoolStatus(settings, InstantSource.system())
                .next(seen, problems, plan, new Outcome(List.of(), List.of()));
        return PlanView.of(seen, plan, new DryRun(on.client(), seen).changes(plan.apply()), next);
    }
}
