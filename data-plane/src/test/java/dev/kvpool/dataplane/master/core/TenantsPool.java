// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import java.util.function.Consumer;

/** A pool of two nodes whose leader serves, with objects of tenants, for tests of what asks a core. */
public final class TenantsPool {
    private static final long MIB = 1 << 20;

    private final Scenario pool = new Scenario().withNodes(64 * MIB, "a", "b").leading(7);

    /** The core of the leader, for the thread of the test. */
    public MasterCore core() {
        return pool.talkedTo().core();
    }

    /** Puts so many objects of a tenant: NAME0, NAME1 and on, of 10 bytes. */
    public void fill(Tenant tenant, String name, int objects) {
        pool.as(tenant);
        for (int i = 0; i < objects; i++) {
            assertThat(pool.put(name + i, 10)).isEqualTo(Status.OK);
        }
    }

    /** Removes one of them. */
    public void remove(Tenant tenant, String key) {
        assertThat(pool.as(tenant).remove(key, true)).isEqualTo(Status.OK);
    }

    /** Hears of each change, once the core tells them. */
    public void onChange(Consumer<Change> heard) {
        pool.talkedTo().onChange(heard);
    }

    public long nowMs() {
        return pool.world.nowMs();
    }
}
