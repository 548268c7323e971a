// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

import java.util.Optional;

/**
 * Where a master is asked.
 *
 * @param host IP address of its pod, or the name of the pod where the API server passes requests on
 * @param identity who has to answer there; empty where the master is plain, and so is the connection
 */
public record MasterEndpoint(String host, Optional<Identity> identity) {

    /**
     * Whom a secure master proves to be.
     *
     * @param pool name of the pool
     * @param poolId its identity
     * @param pod name of the master
     * @param roots PEM of what the pool's processes trust
     * @param names what certificates of others stand for; empty where those of the pool have its own names
     */
    public record Identity(String pool, String poolId, String pod, String roots, Optional<String> names) {
        /** One whose certificate names the pod. */
        public Identity(String pool, String poolId, String pod, String roots) {
            this(pool, poolId, pod, roots, Optional.empty());
        }
    }

    /** A plain one. */
    public static MasterEndpoint plain(String host) {
        return new MasterEndpoint(host, Optional.empty());
    }
}
