// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.event;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;

class ToldOnceTest {
    private static final Notice STEP = new Notice(EventReason.UPGRADE_STEP, "demo-a-0: RESTART.");
    private static final Notice READY = new Notice(EventReason.READY, "The pool serves.");

    private final ToldOnce told = new ToldOnce();

    @Test
    void theSameDecisionAboutTheSameVersionIsToldOnce() {
        assertThat(told.news(resource("a", "7"), List.of(STEP))).containsExactly(STEP);

        assertThat(told.news(resource("a", "7"), List.of(STEP, READY))).containsExactly(READY);
    }

    @Test
    void anotherVersionOrAnotherResourceIsNews() {
        told.news(resource("a", "7"), List.of(STEP));

        assertThat(told.news(resource("a", "8"), List.of(STEP))).containsExactly(STEP);
        assertThat(told.news(resource("b", "8"), List.of(STEP))).containsExactly(STEP);
    }

    @Test
    void whatWasChangedAgainIsToldAgain() {
        Notice changed = new Notice(EventReason.CHANGED, "Changed ConfigMap demo-client.");
        told.news(resource("a", "7"), List.of(changed));

        assertThat(told.news(resource("a", "7"), List.of(changed))).containsExactly(changed);
    }

    private static ConfigMap resource(String uid, String version) {
        return new ConfigMapBuilder()
                .withNewMetadata()
                .withUid(uid)
                .withResourceVersion(version)
                .endMetadata()
                .build();
    }
}
