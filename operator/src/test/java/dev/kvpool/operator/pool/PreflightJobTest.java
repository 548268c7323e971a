// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.naming.PoolLabels;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whom the Job asks that checks an upgrade. */
class PreflightJobTest {
    @ParameterizedTest(name = "of 3 masters {0} do not run: {1} are asked")
    @CsvSource({"'', 0 1 2", "2, 0 1", "1 2, 0"})
    void mastersThatRunAreAsked(String broken, String asked) {
        PoolSketch sketch = new PoolSketch(
                        "{image: 'kvpool:next', masters: {replicas: 3}, storage: [{name: a, capacity: 1Gi}]}")
                .status(PoolSketch.asking("kvpool:next", PoolSketch.IMAGE))
                .set("a", 1)
                .masters(3, 1, PoolSketch.leader(List.of()));
        for (String ordinal : broken.isEmpty() ? new String[0] : broken.split(" ")) {
            sketch.pod(PoolSketch.notReady(
                    PoolSketch.pod("demo-master-" + ordinal, PoolLabels.ROLE_MASTER, "", true, "a")));
        }

        List<String> arguments = sketch.plan().apply().stream()
                .filter(Job.class::isInstance)
                .map(job -> ((Job) job)
                        .getSpec()
                        .getTemplate()
                        .getSpec()
                        .getContainers()
                        .getFirst()
                        .getArgs())
                .findFirst()
                .orElseThrow();

        String addresses = List.of(asked.split(" ")).stream()
                .map("demo-master-%s.demo-master.ns.svc:9003"::formatted)
                .reduce((one, other) -> one + "," + other)
                .orElseThrow();
        assertThat(arguments).contains("--admins=" + addresses);
    }
}
