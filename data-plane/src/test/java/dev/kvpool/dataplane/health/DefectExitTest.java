// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.health;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.cli.ExitCode;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** How a process ends at a defect; that it really does is tried by HungMasterTest. */
class DefectExitTest {
    private final List<Integer> halts = new CopyOnWriteArrayList<>();
    private final DefectExit exit = new DefectExit(halts::add);

    @Test
    void itHaltsOnceWithACodeOfItsOwn() {
        exit.found("the test says so", new StackOverflowError("planted"));
        exit.found("the test says so again", new IllegalStateException("planted"));

        assertThat(halts).containsExactly(ExitCode.DEFECT);
        assertThat(ExitCode.DEFECT).isNotIn(ExitCode.OK, ExitCode.FAILURE, ExitCode.USAGE);
    }

    @Test
    void anExceptionThatNobodyCatchesIsADefect() throws InterruptedException {
        Thread thread = Thread.ofPlatform().uncaughtExceptionHandler(exit).start(() -> {
            throw new LinkageError("planted");
        });
        thread.join();

        assertThat(halts).containsExactly(ExitCode.DEFECT);
    }
}
