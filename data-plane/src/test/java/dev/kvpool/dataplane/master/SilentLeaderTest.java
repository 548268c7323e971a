// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.LeaderProbe.Finding;
import dev.kvpool.dataplane.master.SilentLeader.Step;
import dev.kvpool.dataplane.wire.message.Authority;
import org.junit.jupiter.api.Test;

/** What a standby does about a leader that most nodes do not hear. */
class SilentLeaderTest {
    private static final Authority LEADER = new Authority(5, 55);

    private final SilentLeader leader = new SilentLeader();

    private Step silent(boolean proved, long nowMs) {
        return leader.silent(LEADER, proved, nowMs);
    }

    @Test
    void itIsDialledBeforeItsSilenceIsProvedAndFollowedWhenItIs() {
        assertThat(silent(false, 500)).isEqualTo(Step.PROBE);
        assertThat(silent(false, 700)).as("a dial is under way").isEqualTo(Step.NOTHING);
        leader.found(LEADER, Finding.UNKNOWN, 1_000);
        assertThat(silent(false, 1_100)).isEqualTo(Step.NOTHING);
        assertThat(silent(true, 1_250)).isEqualTo(Step.TAKE);
    }

    @Test
    void oneThatAnswersIsLeftAlone() {
        silent(false, 500);
        leader.found(LEADER, Finding.THERE, 510);
        assertThat(silent(true, 1_300)).as("it is asked again").isEqualTo(Step.PROBE);
        leader.found(LEADER, Finding.THERE, 1_310);
        assertThat(silent(true, 1_400)).isEqualTo(Step.NOTHING);
    }

    @Test
    void nobodyIsFollowedWithoutADialOfThatLeaderJustBefore() {
        assertThat(silent(true, 500)).isEqualTo(Step.PROBE);
        leader.found(LEADER, Finding.UNKNOWN, 1_000);
        assertThat(silent(true, 3_000)).as("that was long ago").isEqualTo(Step.PROBE);
        leader.found(LEADER, Finding.UNKNOWN, 3_500);
        Authority next = new Authority(6, 66);
        assertThat(leader.silent(next, true, 3_600))
                .as("that was another leader")
                .isEqualTo(Step.PROBE);
        leader.found(LEADER, Finding.UNKNOWN, 3_700);
        assertThat(leader.silent(next, true, 3_800)).isEqualTo(Step.NOTHING);
    }
}
