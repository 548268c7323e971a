// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.liveness;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.base.ProtocolViolation;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.NodeMessage.LeaderGone;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * For how long the nodes that count hear nothing of the leader, as they answer to the heartbeats of this standby. That most of them
 * do not at one and the same moment is a proof, however long their answers were under way: an answer is younger than the heartbeat
 * it answers, and its silence older than its arrival less its length. Each node has one word, its last one.
 */
public final class Silences {
    /** On our clock: from when on, at the latest, and until when, at the earliest, a node has heard nothing. */
    private record Silence(Authority leader, long fromMs, long untilMs) {}

    private final Electorate electorate;
    private final Outbox outbox;
    private final Map<String, Silence> silences = new HashMap<>();

    /** This master led with that one: those of before it are of the past. */
    private long ledEpoch;

    public Silences(Electorate electorate, Outbox outbox) {
        this.electorate = electorate;
        this.outbox = outbox;
    }

    void heard(NodeView node, LeaderGone told, long nowMs) throws ProtocolViolation {
        if (told.beat() <= 0 || told.beat() > nowMs) {
            throw new ProtocolViolation("an answer to heartbeat " + told.beat() + ", which was not sent");
        }
        if (electorate.isOfEngines() && node.peer().tenant().isPresent()) {
            return; // as of a leader that has crashed: see Departures
        }
        Set<String> voters = electorate.known();
        Authority leader = told.authority();
        if (!voters.contains(node.id) || Long.compareUnsigned(leader.epoch(), ledEpoch) < 0) {
            return;
        }
        silences.put(node.id, new Silence(leader, nowMs - told.silentMs(), told.beat()));
        silences.keySet().retainAll(voters); // engines come and go
        if (areMostSilent(leader, voters, Bounds.SUSPECT_MS, nowMs)) {
            boolean proved = areMostSilent(leader, voters, Bounds.SURE_MS + Bounds.SILENCE_MARGIN_MS, nowMs);
            outbox.leaderSilent(leader, told.address(), proved, nowMs - Bounds.ANSWER_AGE_MS);
        }
    }

    /** Whether some node has said lately that it hears nothing of the leader. */
    boolean areAny(long nowMs) {
        return silences.values().stream().anyMatch(silence -> nowMs - silence.untilMs <= Bounds.SUSPECT_MS);
    }

    /** This master leads so: whatever was said is about leaders of before. */
    void forget(Authority leader) {
        ledEpoch = leader.epoch();
        silences.clear();
    }

    /** Whether at that moment, a little ago, most of these nodes had heard nothing of this leader for so long. */
    private boolean areMostSilent(Authority leader, Set<String> voters, long forMs, long nowMs) {
        long momentMs = nowMs - Bounds.ANSWER_AGE_MS;
        long silent = silences.entrySet().stream()
                .filter(it ->
                        voters.contains(it.getKey()) && it.getValue().leader.equals(leader))
                .filter(it -> it.getValue().untilMs >= momentMs && it.getValue().fromMs <= momentMs - forMs)
                .count();
        return 2 * silent > voters.size();
    }
}
