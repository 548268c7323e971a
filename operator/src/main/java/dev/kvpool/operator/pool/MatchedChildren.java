// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Remembers which stored objects were found to be as planned. The comparison of server-side apply takes longer than all else that
 * is done for a calm pool together, and its answer holds until the object or the plan for it changes.
 */
final class MatchedChildren {
    /** Objects that are remembered, of about 4000 pools; of more, those that were quiet for longest are compared again. */
    private static final int OBJECTS_MAX = 65_536;

    private record Match(String resourceVersion, String planned) {}

    private final Map<String, Match> byUid = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Match> eldest) {
            return size() > OBJECTS_MAX;
        }
    };

    /** True when this version of the object was found to be as this plan wants it. */
    boolean matched(HasMetadata actual, HasMetadata planned, KubernetesSerialization text) {
        Match match;
        synchronized (byUid) {
            match = byUid.get(actual.getMetadata().getUid());
        }
        return match != null
                && match.resourceVersion().equals(actual.getMetadata().getResourceVersion())
                && match.planned().equals(digest(planned, text));
    }

    /** This version of the object is as this plan wants it. */
    void remember(HasMetadata actual, HasMetadata planned, KubernetesSerialization text) {
        Match match = new Match(actual.getMetadata().getResourceVersion(), digest(planned, text));
        synchronized (byUid) {
            byUid.put(actual.getMetadata().getUid(), match);
        }
    }

    private static String digest(HasMetadata planned, KubernetesSerialization text) {
        try {
            byte[] json = text.asJson(planned).getBytes(StandardCharsets.UTF_8);
            return Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-256").digest(json));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }
}
