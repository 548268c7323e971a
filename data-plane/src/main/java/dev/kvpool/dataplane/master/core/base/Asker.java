// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.wire.message.Tenant;

/**
 * Who asks, and whose objects a request can be about.
 *
 * @param session the answer goes there
 * @param tenant whose keys the request names
 * @param reach how far a removal of everything goes
 */
public record Asker(long session, Tenant tenant, Reach reach) {
    /** What everything is. */
    public enum Reach {
        /** The objects of the tenant. */
        TENANT,
        /** The same, for a peer without certificate, to whom all objects belong as far as no tenants are known. */
        PLAIN,
        /** The objects of all tenants. */
        POOL
    }

    /** A peer without a certificate. */
    public static Asker plain(long session) {
        return new Asker(session, Tenant.DEFAULT, Reach.PLAIN);
    }
}
