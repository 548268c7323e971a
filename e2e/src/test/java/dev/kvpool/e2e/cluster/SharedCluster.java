// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import dev.kvpool.e2e.install.Operator;
import java.io.IOException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Gives the scenarios of a run one cluster with one operator, and writes diagnostics when a scenario fails. */
final class SharedCluster
        implements ParameterResolver, TestExecutionExceptionHandler, LifecycleMethodExecutionExceptionHandler {

    private static final Logger LOG = LoggerFactory.getLogger(SharedCluster.class);

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == Cluster.class || type == Operator.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        Cluster cluster = cluster(context);
        if (parameter.getParameter().getType() == Cluster.class) {
            return cluster;
        }
        try {
            return operator(context, cluster);
        } catch (RuntimeException e) {
            // No test has begun, so JUnit would not report the failure to the methods below.
            diagnose(context);
            throw e;
        }
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

    /** The root's store lives as long as the run, and closes the cluster at its end. */
    private static Store store(ExtensionContext context) {
        return context.getRoot().getStore(Namespace.create(SharedCluster.class));
    }

    private static Cluster cluster(ExtensionContext context) {
        return store(context).computeIfAbsent(Cluster.class, type -> Cluster.open(Settings.read()), Cluster.class);
    }

    private static Operator operator(ExtensionContext context, Cluster cluster) {
        return store(context).computeIfAbsent(Operator.class, type -> Operator.install(cluster), Operator.class);
    }

    private static void diagnose(ExtensionContext context) {
        Cluster cluster = store(context).get(Cluster.class, Cluster.class);
        if (cluster != null) {
            String scenario = context.getRequiredTestClass().getSimpleName() + "."
                    + context.getTestMethod().map(method -> method.getName()).orElse("before");
            try {
                LOG.error("{} failed; cluster's state is in {}", scenario, new Diagnostics(cluster, scenario).write());
            } catch (IOException e) {
                // The scenario's own failure is what matters.
                LOG.error("{} failed; cannot write the cluster's state", scenario, e);
            }
        }
    }
}
