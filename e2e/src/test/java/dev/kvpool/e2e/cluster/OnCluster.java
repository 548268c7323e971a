// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Scenarios that need the cluster of the run. Their constructors and methods may take a {@link Cluster} and a {@link
 * dev.kvpool.e2e.install.Operator}, which are made when first asked for and shared by all scenarios of the run.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(SharedCluster.class)
public @interface OnCluster {}
