// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.cluster;

/** Where commands get the cluster from that their options name, and what a person answers; the root of all commands is one. */
public interface Clusters {
    /** Opens it; the caller closes it. */
    Cluster open(ClusterOptions options);

    /** The next line that the person types; null when there is none. */
    String typed();
}
