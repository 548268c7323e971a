// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients that look for the leader, at a master that does not serve. */
class LeaderQuestionsTest {
    private static final long MIB = 1 << 20;

    private final Scenario pool = new Scenario().withNodes(MIB, "a").leading(7);
    private final ModelMaster standby = pool.master();

    LeaderQuestionsTest() {
        standby.standBy();
        pool.talkTo(standby);
    }

    @Test
    void isAnsweredAsSoonAsItServes() {
        long question = ask();
        pool.world.run(Bounds.LEADER_QUESTION_MS / 2);
        assertThat(pool.isAnswered(question)).isFalse();

        standby.lead(Scenario.authority(8), 3_000);
        pool.world.run(0);

        assertThat(answer(question)).isEqualTo(Status.OK);
    }

    @Test
    void doesNotWaitForEver() {
        long question = ask();

        pool.world.run(Bounds.LEADER_QUESTION_MS - 20);
        assertThat(pool.isAnswered(question)).isFalse();

        pool.world.run(40);
        assertThat(answer(question)).isEqualTo(Status.NOT_LEADER);
    }

    @Test
    void oneThatFollowsAnswersTheOneBefore() {
        long first = ask();
        long second = ask();

        assertThat(answer(first)).isEqualTo(Status.NOT_LEADER);
        assertThat(pool.isAnswered(second)).isFalse();
    }

    @Test
    void whoIsGoneGetsNoAnswer() {
        long question = ask();
        pool.disconnect();

        pool.world.run(2 * Bounds.LEADER_QUESTION_MS);

        assertThat(pool.isAnswered(question)).isFalse();
        assertThat(standby.core().drain()).isEmpty();
    }

    @Test
    void otherRequestsDoNotWait() {
        assertThat(pool.lookup("k").status()).isEqualTo(Status.NOT_LEADER);
    }

    private long ask() {
        ExistsRequest question = new ExistsRequest(pool.nextRequest(), List.of());
        pool.send(question);
        return question.requestId();
    }

    private Status answer(long question) {
        return pool.reply(question, ExistsReply.class).status();
    }
}
