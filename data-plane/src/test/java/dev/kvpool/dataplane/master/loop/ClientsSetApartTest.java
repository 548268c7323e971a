// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.wire.RefusalCode;
import org.junit.jupiter.api.Test;

class ClientsSetApartTest {
    private final ClientsSetApart clients = new ClientsSetApart();

    @Test
    void theWaitDoublesUpToAnHourAndIsThatClientsAlone() {
        long nowMs = 5;
        for (long waitS : new long[] {10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 3_600, 3_600}) {
            assertThat(clients.setApart("tenant/a/rw", nowMs)).contains("tenant/a/rw is set apart for " + waitS + " s");
            assertThat(clients.objection("tenant/b/rw", nowMs)).isEmpty();
            nowMs += waitS * 1_000;
            assertThat(clients.objection("tenant/a/rw", nowMs - 1))
                    .hasValueSatisfying(why -> assertThat(why.code()).isEqualTo(RefusalCode.SET_APART));
            assertThat(clients.objection("tenant/a/rw", nowMs)).isEmpty();
        }
    }

    @Test
    void afterTenMinutesWithoutAnotherOneItBeginsAgain() {
        clients.setApart("10.0.0.1", 0);
        assertThat(clients.setApart("10.0.0.1", 10_000)).contains("for 20 s");
        assertThat(clients.setApart("10.0.0.1", 30_000 + 599_999)).contains("for 40 s");
        assertThat(clients.setApart("10.0.0.1", 629_999 + 40_000 + 600_000)).contains("for 10 s");
    }

    /** One that comes under another name each time costs the view three times, and then once for each wait. */
    @Test
    void theThirdProcessSetsAllOfItsPrincipalApart() {
        clients.setApart("a", "a/1", 0);
        clients.setApart("b", "b/1", 0);
        clients.setApart("a", "a/1", 20_000);
        clients.setApart("a", "a/2", 40_000);
        assertThat(clients.objection("a", "a/3", 40_001)).as("two processes").isEmpty();

        assertThat(clients.setApart("a", "a/3", 50_000)).contains("each process of");
        assertThat(clients.objection("a", "a/4", 59_999)).isPresent();
        assertThat(clients.objection("a", "a/4", 60_000)).isEmpty();
        assertThat(clients.objection("b", "b/2", 50_001)).isEmpty();

        clients.setApart("a", "a/4", 60_000);
        assertThat(clients.objection("a", "a/5", 79_999)).isPresent();
        assertThat(clients.objection("a", "a/5", 80_000)).isEmpty();
    }

    @Test
    void processesOfLongAgoDoNotCount() {
        clients.setApart("a", "a/1", 0);
        clients.setApart("a", "a/2", 10_000);
        clients.setApart("a", "a/3", 10_000 + 600_000);
        assertThat(clients.objection("a", "a/4", 610_001)).isEmpty();
    }

    @Test
    void asManyAsMayBeAreRememberedAndTheEldestForgotten() {
        for (int i = 0; i <= 1_024; i++) {
            clients.setApart("10.0.0." + i, i);
        }
        assertThat(clients.objection("10.0.0.0", 1_100)).isEmpty();
        assertThat(clients.objection("10.0.0.1", 1_100)).isPresent();
        assertThat(clients.objection("10.0.0.1024", 1_100)).isPresent();
    }
}
