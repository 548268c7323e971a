// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.election.ElectorThread;
import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.loop.CoreLoop;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * How a leader gives its leadership to whoever is next, without anybody waiting for the Lease to run out: it takes no more
 * requests, answers who waits, gives the Lease back, and has the nodes tell the other masters.
 */
final class HandingOver {
    private static final long ANSWER_MS_MAX = 2_000;
    private static final long WAITING_MS_MAX = 500;
    private static final long WAITING_LOOK_MS = 5;

    /** Longer than any caught-up standby needs to take a Lease that was given back. */
    static final long ABSTAIN_MS = 3_000;

    private final CoreLoop loop;
    private final ElectorThread elector;
    private final LongSupplier clockMs;
    private final ReentrantLock underWay = new ReentrantLock();

    HandingOver(CoreLoop loop, ElectorThread elector, LongSupplier clockMs) {
        this.loop = loop;
        this.elector = elector;
        this.clockMs = clockMs;
    }

    /** When this process ends. */
    void forGood() {
        Authority ours = finishWaiting();
        standBy("this master is being stopped");
        elector.close();
        tellNodes(ours);
    }

    /**
     * Goes on as a standby and leaves the Lease to the others for a while. When nobody takes it, this master leads again.
     *
     * @return the epoch that ended; empty when this master does not lead, or is giving its leadership away already
     */
    OptionalLong giveAway() {
        if (!underWay.tryLock()) {
            return OptionalLong.empty();
        }
        try {
            Authority ours = finishWaiting();
            if (ours.equals(Authority.NONE)) {
                // The core may have been too slow to answer: it leaves later then, though the Lease is not given back.
                await(loop.deliver(MasterCore::stay), false);
                return OptionalLong.empty();
            }
            standBy("the leadership is handed over");
            elector.handOver(ours, ABSTAIN_MS)
                    .completeOnTimeout(null, ABSTAIN_MS, TimeUnit.MILLISECONDS)
                    .join();
            tellNodes(ours);
            return OptionalLong.of(ours.epoch());
        } finally {
            underWay.unlock();
        }
    }

    /** Lets clients that wait for nodes have their answers, for a short while; answers whom we led as, if at all. */
    private Authority finishWaiting() {
        long untilMs = clockMs.getAsLong() + WAITING_MS_MAX;
        Authority ours = await(loop.ask(MasterCore::leave), Authority.NONE);
        try {
            while (await(loop.ask(MasterCore::hasWaiting), false) && clockMs.getAsLong() < untilMs) {
                Thread.sleep(WAITING_LOOK_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return ours;
    }

    private void standBy(String reason) {
        await(loop.deliver(core -> core.standBy(reason, loop.nowMs())), false);
    }

    private void tellNodes(Authority ours) {
        if (!ours.equals(Authority.NONE)) {
            await(loop.deliver(core -> core.left(ours)), false);
        }
    }

    /** A core that has met a defect answers nothing any more. */
    private static <T> T await(CompletableFuture<T> answer, T otherwise) {
        return answer.completeOnTimeout(otherwise, ANSWER_MS_MAX, TimeUnit.MILLISECONDS)
                .join();
    }
}
