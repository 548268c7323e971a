// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master.http;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/** Paths and queries of a master's admin endpoint, whichever way it is reached. */
public final class MasterPaths {
    public static final String POOL = "/api/v1/pool";
    public static final String HAND_OVER = "/api/v1/handover";
    private static final String DRAIN = "/api/v1/drain";

    private MasterPaths() {}

    /** Posted, has the leader begin to empty a storage node. */
    public static String drain(String node, Duration timeout) {
        return drain(node) + "&timeout=" + timeout.toSeconds() + "s";
    }

    /** Posted, the same so that nothing at all is left on it. */
    static String clear(String node, Duration timeout) {
        return drain(node, timeout) + "&clear=true";
    }

    /** Deleted, has the leader let a storage node take part again. */
    public static String drain(String node) {
        return DRAIN + "?node=" + encoded(node);
    }

    /** Posted, has the leader wait no more for a storage node, neither for what it holds nor for what it knows. */
    public static String forget(String node) {
        return "/api/v1/forget?node=" + encoded(node);
    }

    /** Says whether a key is in the pool, where, and if not, why. */
    public static String key(String key) {
        return "/api/v1/key?key=" + encoded(key);
    }

    static String leaderGone(String holder, long epoch, String leader) {
        return "/api/v1/leader_gone?holder=%s&epoch=%d&address=%s".formatted(encoded(holder), epoch, encoded(leader));
    }

    static String finalise(int wire, int layout, boolean ignoreClients) {
        return "/api/v1/finalise?wire=%d&layout=%d&ignore-clients=%s".formatted(wire, layout, ignoreClients);
    }

    private static String encoded(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }
}
