// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.kvpool.dataplane.sim.SeedRun.SeedFailed;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Whatever a seed fails of, it is named, and no further one begins. */
class SeedRunTest {
    private static final int MANY = 1_000_000;

    @Test
    void aSeedThatEndsWithAnErrorIsNamedAndIsTheLast() {
        List<Long> begun = Collections.synchronizedList(new ArrayList<>());
        Error cause = new StackOverflowError();

        SeedFailed failed = catchThrowableOfType(
                SeedFailed.class,
                () -> SeedRun.run(
                        seed -> {
                            begun.add(seed);
                            throw cause;
                        },
                        7,
                        MANY));

        assertThat(failed.seed).isEqualTo(7);
        assertThat(failed).hasCause(cause);
        assertThat(begun).hasSizeLessThan(MANY);
    }
}
