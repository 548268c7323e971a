// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.apps.DaemonSetBuilder;
import io.fabric8.kubernetes.api.model.apps.StatefulSetBuilder;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What controllers say of pods that they cannot create. */
class RefusalTest {
    private static final Instant NOW = Instant.parse("2026-01-01T12:00:00Z");
    private static final HasMetadata SET = new StatefulSetBuilder()
            .withNewMetadata()
            .withName("demo-a")
            .withUid("u")
            .endMetadata()
            .build();
    private static final HasMetadata AGENTS = new DaemonSetBuilder()
            .withNewMetadata()
            .withName("demo-agent")
            .withUid("u")
            .endMetadata()
            .build();

    /** One is created, and the next one of the same set refused: what keeps that one away is not over. */
    @Test
    void eachPodOfAStatefulSetHasARefusalOfItsOwn() {
        assertThat(Refusal.of(
                        SET,
                        List.of(
                                refused(
                                        "create Pod demo-a-0 in StatefulSet demo-a failed error: the webhook is down",
                                        60),
                                refused(
                                        "create Pod demo-a-1 in StatefulSet demo-a failed error: the webhook is down",
                                        60),
                                created("create Pod demo-a-0 in StatefulSet demo-a successful", 30)),
                        NOW))
                .containsExactly(new Refusal("StatefulSet demo-a", "demo-a-1", "the webhook is down"));
    }

    @Test
    void whatIsSaidAfterAPodWasCreatedCounts() {
        assertThat(Refusal.of(
                        SET,
                        List.of(
                                created("create Pod demo-a-0 in StatefulSet demo-a successful", 60),
                                refused("create Pod demo-a-0 in StatefulSet demo-a failed error: first", 40),
                                refused("create Pod demo-a-0 in StatefulSet demo-a failed error: then", 30)),
                        NOW))
                .containsExactly(new Refusal("StatefulSet demo-a", "demo-a-0", "then"));
    }

    /** The claim is there, and the pod is refused in the same second. */
    @Test
    void aClaimThatWasCreatedIsNoPod() {
        assertThat(Refusal.of(
                        SET,
                        List.of(
                                created("create Claim data-demo-a-0 Pod demo-a-0 in StatefulSet demo-a success", 30),
                                refused(
                                        "create Claim data-demo-a-0 Pod demo-a-0 in StatefulSet demo-a failed error: no quota",
                                        30)),
                        NOW))
                .containsExactly(new Refusal("StatefulSet demo-a", "demo-a-0", "no quota"));
    }

    @Test
    void aNameThatIsAnotherWithEachTryIsNotSaid() {
        assertThat(Refusal.of(
                        AGENTS,
                        List.of(refused(
                                "(combined from similar events): Error creating: pods \"demo-agent-x7k2p\" is forbidden: quota",
                                30)),
                        NOW))
                .containsExactly(new Refusal("DaemonSet demo-agent", "", "pods \"demo-agent-*\" is forbidden: quota"));
        assertThat(Refusal.of(
                        SET,
                        List.of(refused(
                                "(combined from similar events): create Pod demo-a-1 in StatefulSet demo-a failed error: quota",
                                30)),
                        NOW))
                .containsExactly(new Refusal("StatefulSet demo-a", "demo-a-1", "quota"));
    }

    @Test
    void whatIsOldOrOfOthersIsNoRefusal() {
        assertThat(Refusal.of(
                        AGENTS,
                        List.of(
                                refused("Error creating: quota", 20 * 60),
                                new Refusal.Told("another", false, "Error creating: quota", NOW)),
                        NOW))
                .isEmpty();
    }

    private static Refusal.Told refused(String note, int secondsAgo) {
        return new Refusal.Told("u", false, note, NOW.minusSeconds(secondsAgo));
    }

    private static Refusal.Told created(String note, int secondsAgo) {
        return new Refusal.Told("u", true, note, NOW.minusSeconds(secondsAgo));
    }
}
