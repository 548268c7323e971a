// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.validate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests and limits that no pod can have are told, and change nothing. */
class ResourceCheckTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            {limits: {memory: lots}}                       | .limits.memory is lots, which is not a quantity
            {requests: {cpu: -1}}                          | .requests.cpu is -1, which is not a quantity
            {requests: {cpu: "2"}, limits: {cpu: 500m}}    | the request of cpu, 2, is above its limit, 500m
            """)
    void isTold(String resources, String sentence) {
        for (String spec : List.of(
                "{masters: {resources: %s}, storage: [{name: a, capacity: 1Gi}]}".formatted(resources),
                "{storage: [{name: a, capacity: 1Gi, resources: %s}]}".formatted(resources))) {
            PoolSketch sketch = new PoolSketch(spec);

            List<Finding> problems = PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS);

            assertThat(problems).singleElement().satisfies(problem -> {
                assertThat(problem.reason()).isEqualTo(Reason.RESOURCES_INVALID);
                assertThat(problem.message()).contains(sentence);
            });
            assertThat(sketch.plan().apply()).isEmpty();
        }
    }

    @Test
    void whatAPodCanHaveIsFine() {
        PoolSketch sketch = new PoolSketch("""
                {storage: [{name: a, capacity: 1Gi, resources: {requests: {cpu: 500m}, limits: {cpu: 2, memory: 8Gi}}}]}""");

        assertThat(PoolValidator.validate(sketch.observation(), PoolSketch.SETTINGS))
                .isEmpty();
    }
}
