// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.membership.Membership;
import java.util.Set;

/**
 * Whether a leader can still be sure that no other leader has followed it, as one may when it is silent. It can for {@link
 * Bounds#SURE_MS} after it began to renew its Lease, and after it sent heartbeats that so many expected nodes have answered that
 * the others are no majority. Once neither was so, as after a pause of its process or its machine, only a renewal lets it answer
 * again. A standby that follows waits for longer, see {@link Silences}: so there is no moment at which two answer.
 */
public final class Assurance {
    private final Leadership leadership;
    private final Membership membership;
    private final Electorate electorate;
    private final Outbox outbox;

    /** What a renewal is worth beyond {@link Bounds#SURE_MS}: nothing when the Lease is valid for no longer than that. */
    private final long surplusMs;

    private long renewedUntilMs;
    private long answeredUntilMs;

    /** @param renewDeadlineMs how long a Lease is valid for its holder after it began to renew it */
    public Assurance(
            long renewDeadlineMs, Leadership leadership, Membership membership, Electorate electorate, Outbox outbox) {
        this.surplusMs = Math.max(0, renewDeadlineMs - Bounds.SURE_MS);
        this.leadership = leadership;
        this.membership = membership;
        this.electorate = electorate;
        this.outbox = outbox;
    }

    /** The Lease was taken, or renewed, and would be valid until then. */
    public void renewed(long validUntilMs, long nowMs) {
        renewedUntilMs = validUntilMs - surplusMs;
        if (nowMs < renewedUntilMs) {
            leadership.sure(true);
        }
    }

    /** To be called with each input before anything else: what it brings must not hide that there was a gap before. */
    public void look(long nowMs) {
        if (!leadership.isSure() || !leadership.leads() || nowMs < renewedUntilMs || nowMs < answeredUntilMs) {
            return;
        }
        answeredUntilMs = answeredUntilMs(nowMs);
        if (nowMs >= answeredUntilMs) {
            leadership.sure(false);
            outbox.report(
                    "not sure to lead any more with %s, and answers no requests until the Lease is renewed: that, and what most nodes have answered, is older than %d ms"
                            .formatted(leadership.authority(), Bounds.SURE_MS));
            outbox.lookAtLease();
        }
    }

    /** Until when clients are answered, as far as is known now. */
    public long servingUntilMs(long nowMs) {
        if (!leadership.isSure()) {
            return Long.MIN_VALUE;
        }
        // What was counted before other nodes were expected is still worth what it was.
        long sureUntilMs = Math.max(answeredUntilMs, answeredUntilMs(nowMs));
        return Math.min(leadership.validUntilMs(), Math.max(renewedUntilMs, sureUntilMs));
    }

    private long answeredUntilMs(long nowMs) {
        return electorate.possible().stream()
                .mapToLong(voters -> answeredUntilMs(voters, nowMs))
                .min()
                .orElse(Long.MIN_VALUE);
    }

    private long answeredUntilMs(Set<String> voters, long nowMs) {
        if (voters.isEmpty()) {
            return nowMs + Bounds.SURE_MS; // there are no nodes that could say that we are silent
        }
        long[] answered = voters.stream()
                .map(membership::node)
                .mapToLong(node -> node == null ? Long.MIN_VALUE / 2 : node.answeredMs())
                .sorted()
                .toArray();
        // So many have answered since then that fewer than most have not.
        return answered[answered.length / 2] + Bounds.SURE_MS;
    }
}
