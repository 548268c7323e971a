// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.pool;

import dev.kvpool.e2e.cluster.OnCluster;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Scenarios about one pool: what comes before all of them may take a {@link Scene}, which is closed after the last one. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@OnCluster
public @interface OnScene {
    /** Made with the scene, and removed with all that is in it. */
    String namespace();

    /** Name of the pool, which is the scenario's to make. */
    String pool();

    /** How many objects a put or get of a prefix is about. */
    int objects();

    /** The pod security level that the namespace enforces. */
    String podSecurity() default "restricted";
}
