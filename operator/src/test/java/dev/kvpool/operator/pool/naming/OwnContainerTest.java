// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.naming;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.observation.ObservedPod;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** A storage pod in which admission put a sidecar first, which has restarted and ended, and another reference for the image. */
class OwnContainerTest {
    private static final Pod POD = new KubernetesSerialization().unmarshal("""
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "demo-a-0", "uid": "u",
              "labels": {"kvpool.dev/role": "storage"}, "annotations": {"kvpool.dev/image": "kvpool:2"}},
              "spec": {"containers": [
                {"name": "proxy", "image": "mesh:1"}, {"name": "node", "image": "mirror/kvpool@sha256:2"}]},
              "status": {"containerStatuses": [
                {"name": "proxy", "imageID": "mesh", "restartCount": 7, "state": {"terminated": {"exitCode": 1}}},
                {"name": "node", "imageID": "two", "restartCount": 1,
                  "state": {"running": {"startedAt": "2026-01-01T12:00:00Z"}}}]}}
            """, Pod.class);

    @Test
    void whatIsSeenOfAPodIsThatOfItsOwnContainer() {
        ObservedPod seen = ObservedPod.of(POD);

        assertThat(seen.image()).isEqualTo("kvpool:2");
        assertThat(seen.specImage()).isEqualTo("mirror/kvpool@sha256:2");
        assertThat(seen.running()).isEqualTo("two");
        assertThat(seen.restarts()).isEqualTo(1);
        assertThat(seen.ended()).isEmpty();
        assertThat(seen.runningSince()).contains(Instant.parse("2026-01-01T12:00:00Z"));
        assertThat(seen.started()).isTrue();
    }

    @Test
    void aSidecarThatRunsDoesNotMakeAPodStarted() {
        Pod pod = new KubernetesSerialization().clone(POD);
        pod.getStatus().getContainerStatuses().removeLast();

        assertThat(ObservedPod.of(pod).started()).isFalse();
        assertThat(ObservedPod.of(pod).running()).isEmpty();
    }
}
