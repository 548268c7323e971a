// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.e2e.cluster;

import java.time.Duration;

/**
 * How long each wait of the scenarios may take. None is a statement about speed: they are several times what a slow, busy
 * machine with two cores needs, so that reaching one means that something does not happen at all.
 */
public final class Limits {

    public static final Duration KUBECTL = Duration.ofSeconds(90);
    public static final Duration HELM = Duration.ofMinutes(4);
    public static final Duration LOAD_IMAGES = Duration.ofMinutes(5);
    public static final Duration CLUSTER_START = Duration.ofMinutes(4);
    public static final Duration OPERATOR_READY = Duration.ofMinutes(3);
    public static final Duration POOL_READY = Duration.ofMinutes(4);
    public static final Duration ROLLOUT = Duration.ofMinutes(10);
    public static final Duration CLIENT_POD = Duration.ofMinutes(2);
    public static final Duration NODE_DRAIN = Duration.ofMinutes(4);
    public static final Duration TAKEOVER = Duration.ofMinutes(2);
    public static final Duration RESTART = Duration.ofMinutes(2);
    public static final Duration GONE = Duration.ofMinutes(2);
    public static final Duration STATUS = Duration.ofMinutes(1);

    /** How often a wait looks. */
    public static final Duration POLL = Duration.ofMillis(500);

    private Limits() {}
}
