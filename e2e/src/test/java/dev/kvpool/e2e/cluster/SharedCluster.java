// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import dev.kvpool.e2e.install.Operator;
import dev.kvpool.e2e.pool.Killer;
import dev.kvpool.e2e.pool.OnScene;
import dev.kvpool.e2e.pool.Scene;
import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeTestExecutionCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/**
 * Gives the scenarios of a run one cluster with one operator and one killer, those about one pool a scene of it, says how long each took,
 * and writes diagnostics when a scenario fails.
 */
final class SharedCluster
        implements ParameterResolver,
                BeforeAllCallback,
                BeforeTestExecutionCallback,
                AfterTestExecutionCallback,
                AfterAllCallback,
                TestExecutionExceptionHandler,
                LifecycleMethodExecutionExceptionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(SharedCluster.class);

    /** What classes that run at the same time print is told apart by it. */
    private static final String CLASS = "class";

    private static final String BEGUN = "begun";

    @Override
    public void beforeAll(ExtensionContext context) {
        MDC.put(CLASS, context.getRequiredTestClass().getSimpleName());
        own(context).put(BEGUN, System.nanoTime());
    }

    @Override
    public void beforeTestExecution(ExtensionContext context) {
        own(context).put(BEGUN, System.nanoTime());
    }

    @Override
    public void afterTestExecution(ExtensionContext context) {
        LOG.info(
                "{} s: {}",
                secondsSinceBegun(context),
                context.getRequiredTestMethod().getName());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        LOG.info("{} s in all", secondsSinceBegun(context));
        MDC.remove(CLASS);
    }

    private static long secondsSinceBegun(ExtensionContext context) {
        return Duration.ofNanos(System.nanoTime() - own(context).get(BEGUN, Long.class))
                .toSeconds();
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == Cluster.class
                || type == Operator.class
                || type == Killer.class
                || (type == Scene.class && isBeforeAll(context));
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Cluster cluster = cluster(context);
        Class<?> type = parameter.getParameter().getType();
        if (type == Scene.class) {
            return scene(context, cluster);
        }
        if (type == Killer.class) {
            return killer(context, cluster);
        }
        return type == Cluster.class ? cluster : operator(context, cluster);
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        diagnose(context);
        throw failure;
    }

    @Override
    public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        diagnose(context);
        throw failure;
    }

    @Override
    public void handleBeforeEachMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        diagnose(context);
        throw failure;
    }

    /** Of the class, or of the method. */
    private static Store own(ExtensionContext context) {
        return context.getStore(Namespace.create(SharedCluster.class, context.getUniqueId()));
    }

    /** The root's store lives as long as the run, and closes the cluster at its end. */
    private static Store store(ExtensionContext context) {
        return context.getRoot().getStore(Namespace.create(SharedCluster.class));
    }

    private static Cluster cluster(ExtensionContext context) {
        return once(context, Cluster.class, () -> Cluster.open(Settings.read()));
    }

    private static Operator operator(ExtensionContext context, Cluster cluster) {
        return once(context, Operator.class, () -> {
            try {
                return Operator.install(cluster);
            } catch (RuntimeException e) {
                // No scenario has begun, so JUnit would not report the failure to the methods above.
                diagnose(cluster, "installation");
                throw e;
            }
        });
    }

    private static Killer killer(ExtensionContext context, Cluster cluster) {
        return once(context, Killer.class, () -> new Killer(cluster));
    }

    private static boolean isBeforeAll(ExtensionContext context) {
        return context.getTestMethod().isEmpty()
                && context.getRequiredTestClass().isAnnotationPresent(OnScene.class);
    }

    /** The store of the class closes it behind the last scenario. */
    private static Scene scene(ExtensionContext context, Cluster cluster) {
        OnScene given = context.getRequiredTestClass().getAnnotation(OnScene.class);
        return context.getStore(Namespace.create(SharedCluster.class))
                .computeIfAbsent(Scene.class, key -> new Scene(cluster, killer(context, cluster), given), Scene.class);
    }

    private static <T> T once(ExtensionContext context, Class<T> type, Supplier<T> maker) {
        Once<?> made = store(context).computeIfAbsent(type, key -> Once.attempt(maker), Once.class);
        return type.cast(made.orThrow());
    }

    private static void diagnose(ExtensionContext context) {
        Once<?> made = store(context).get(Cluster.class, Once.class);
        if (made != null && made.value() instanceof Cluster cluster) {
            String method = context.getTestMethod().map(Method::getName).orElse("before");
            diagnose(cluster, context.getRequiredTestClass().getSimpleName() + "." + method);
        }
    }

    private static void diagnose(Cluster cluster, String scenario) {
        try {
            LOG.error("{} failed; the cluster's state is in {}", scenario, new Diagnostics(cluster, scenario).write());
        } catch (IOException e) {
            // The scenario's own failure is what matters.
            LOG.error("{} failed; cannot write the cluster's state", scenario, e);
        }
    }
}
