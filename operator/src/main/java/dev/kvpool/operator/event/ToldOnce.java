// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.event;

import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Leaves out what was told already about the very same version of a resource. A cache may show that version once more after
 * its successor was written, and then the same decision is made again. What was changed again is told again.
 */
public final class ToldOnce {
    /** Resources that are remembered; of more, those that were quiet for longest are told again. */
    private static final int RESOURCES_MAX = 4096;

    private record Told(String version, Set<Notice> notices) {}

    private final Map<String, Told> byUid = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Told> eldest) {
            return size() > RESOURCES_MAX;
        }
    };

    /** Those of the notices that are new. */
    public synchronized List<Notice> news(HasMetadata about, List<Notice> notices) {
        String version = about.getMetadata().getResourceVersion();
        Told told = byUid.get(about.getMetadata().getUid());
        if (told == null || !told.version().equals(version)) {
            told = new Told(version, new HashSet<>());
            byUid.put(about.getMetadata().getUid(), told);
        }
        List<Notice> news = new ArrayList<>();
        for (Notice notice : notices) {
            boolean isNew = told.notices().add(notice);
            if (isNew || notice.reason() == EventReason.CHANGED) {
                news.add(notice);
            }
        }
        return news;
    }
}
