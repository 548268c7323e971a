// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.KvCachePoolStatus;
import dev.kvpool.api.v1alpha1.TransferEngine;
import dev.kvpool.operator.plugin.cluster.ApplyOptions;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.cluster.DryRun;
import dev.kvpool.operator.plugin.cluster.SpecFile;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.plan.PlanText;
import dev.kvpool.operator.plugin.plan.PlanView;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.OperatorSettings;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.pool.plan.Foresight;
import dev.kvpool.operator.pool.plan.Outcome;
import dev.kvpool.operator.pool.plan.PoolPlan;
import dev.kvpool.operator.pool.plan.PoolPlanner;
import dev.kvpool.operator.pool.report.PoolStatus;
import dev.kvpool.operator.pool.validate.PoolValidator;
import dev.kvpool.operator.status.Finding;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code plan}: what the operator's own planning makes of the pool right now. Changes nothing. */
@Command(
        description = {
            "Shows what the operator would do for a pool now, and why. Changes nothing: objects are applied as a dry run.",
            "With --engine or --pool it shows what it would do if kubectl applied that file: which pods would be replaced, emptied before"
                    + " or held back. That needs the rights that applying the file needs.",
            "The file may hold several objects; a pool is planned with the transfer engines of the same file, and the other way round."
        })
public final class PlanCommand extends PoolCommand {
    @Parameters(
            paramLabel = "POOL",
            arity = "0..1",
            description = "The pool; with --engine all that use it when none is named.")
    private String pool;

    @Option(
            names = "--engine",
            paramLabel = "FILE",
            description = "TransferEngines as they might be applied, in YAML or JSON; - is standard input.")
    private Path engineFile;

    @Option(
            names = "--pool",
            paramLabel = "FILE",
            description = "A KvCachePool as it might be applied, in YAML or JSON; - is standard input.")
    private Path poolFile;

    @Option(
            names = "--operator-namespace",
            paramLabel = "NAME",
            description = "Where the operator runs; it is looked for otherwise.")
    private String operatorNamespace;

    @Mixin
    private ApplyOptions apply;

    @Mixin
    private OutputOptions output;

    @Override
    protected void run(Cluster on, PrintWriter out) {
        boolean clear = poolFile == null ? engineFile != null || pool != null : engineFile == null && pool == null;
        if (!clear) {
            throw new PluginException("name a pool, --engine FILE with or without a pool, or --pool FILE");
        }
        apply.check(engineFile != null || poolFile != null);
        OperatorSettings settings = on.operatorSettings(operatorNamespace);
        if (engineFile != null) {
            List<PlanView> views = ofEngine(on, settings);
            output.write(out, views, views.stream().map(PlanText::ofChange).collect(Collectors.joining("\n")));
        } else if (poolFile != null) {
            SpecFile file = read(poolFile, on);
            KvCachePool changed = file.one(KvCachePool.class);
            PlanView view = change(
                    on,
                    on.reader()
                            .changed(
                                    changed,
                                    file.all(
                                            TransferEngine.class,
                                            changed.getSpec().transferEngines()::contains)),
                    settings);
            output.write(out, view, PlanText.ofChange(view));
        } else {
            PlanView view = view(on, pool, settings);
            output.write(out, view, PlanText.of(view));
        }
    }

    public static PlanView view(Cluster on, String pool, OperatorSettings settings) {
        PoolObservation seen = on.observe(pool);
        List<Finding> problems = PoolValidator.validate(seen, settings);
        PoolPlan plan = new PoolPlanner(settings).plan(seen, problems);
        return PlanView.of(
                seen,
                plan,
                new DryRun(on.client(), seen).changes(plan.apply()),
                status(seen, problems, plan, settings));
    }

    private SpecFile read(Path file, Cluster on) {
        SpecFile read =
                file.toString().equals("-") ? SpecFile.of(Path.of("stdin"), allTyped(), on) : SpecFile.of(file, on);
        return read.applied(apply);
    }

    private List<PlanView> ofEngine(Cluster on, OperatorSettings settings) {
        SpecFile file = read(engineFile, on);
        List<TransferEngine> engines = file.all(TransferEngine.class);
        Set<String> names =
                engines.stream().map(engine -> engine.getMetadata().getName()).collect(Collectors.toSet());
        List<KvCachePool> users = users(on, file.all(KvCachePool.class, any -> true));
        List<KvCachePool> pools = users.stream()
                .filter(user -> user.getSpec().transferEngines().stream().anyMatch(names::contains))
                .toList();
        if (pools.isEmpty()) {
            throw new PluginException("%s is TransferEngine %s, which %s does not use; used there: %s"
                    .formatted(
                            engineFile,
                            NameList.of(names.stream().sorted().toList()),
                            pool == null ? "any pool of namespace " + on.namespace() : "pool " + pool,
                            users.stream()
                                    .map(user -> user.getSpec().transferEngines())
                                    .flatMap(used -> used.isEmpty() ? Stream.of("none") : used.stream())
                                    .distinct()
                                    .collect(Collectors.joining(", "))));
        }
        return pools.stream()
                .map(user -> change(on, on.reader().changed(user, engines), settings))
                .toList();
    }

    /** Those that there are, as the file would make them, and those that it would create. */
    private List<KvCachePool> users(Cluster on, List<KvCachePool> changed) {
        Map<String, KvCachePool> users = new TreeMap<>();
        Stream.concat(on.pools().stream(), changed.stream())
                .forEach(user -> users.put(user.getMetadata().getName(), user));
        return pool == null
                ? List.copyOf(users.values())
                : List.of(Optional.ofNullable(users.get(pool)).orElseGet(() -> on.pool(pool)));
    }

    private static PlanView change(Cluster on, PoolObservation changed, OperatorSettings settings) {
        Foresight foresight = Foresight.of(changed, settings);
        return PlanView.ofChange(
                foresight,
                new DryRun(on.client(), changed).changes(foresight.first().apply()),
                status(foresight.seen(), foresight.problems(), foresight.second(), settings));
    }

    private static KvCachePoolStatus status(
            PoolObservation seen, List<Finding> problems, PoolPlan plan, OperatorSettings settings) {
        return new PoolStatus(settings).next(seen, problems, plan, new Outcome(List.of(), List.of()));
    }
}
