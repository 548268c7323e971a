// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin.mooncake;

import dev.kvpool.dataplane.admin.MasterAdmin;
import dev.kvpool.dataplane.http.Route;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/** All paths of this room. */
public final class MooncakeRoutes {
    private MooncakeRoutes() {}

    public static List<Route> of(MasterAdmin master, InstantSource clock) {
        List<Route> all = new ArrayList<>();
        all.addAll(StateRoutes.of(master));
        all.addAll(SegmentRoutes.of(master));
        all.addAll(MooncakeKeyRoutes.of(master));
        all.addAll(DrainJobRoutes.of(master, clock));
        all.addAll(TenantQuotaRoutes.of(master));
        return all;
    }
}
