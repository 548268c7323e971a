// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.request;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.wire.message.ClientReply.ExistsReply;
import dev.kvpool.dataplane.wire.message.ClientRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.ExistsRequest;
import dev.kvpool.nativelib.Status;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Clients that look for the leader ask with no key. A master that does not serve lets them wait a little: it may be the next leader in
 * some milliseconds, and with many clients their asking again and again would take the processor that it needs to become one.
 */
final class LeaderQuestions {
    private record Question(long request, long untilMs) {}

    /** By session, the oldest first. */
    private final Map<Long, Question> waiting = new LinkedHashMap<>();

    private final Leadership leadership;
    private final Outbox outbox;

    LeaderQuestions(Leadership leadership, Outbox outbox) {
        this.leadership = leadership;
        this.outbox = outbox;
    }

    static boolean isOne(ClientRequest request) {
        return request instanceof ExistsRequest exists && exists.keys().isEmpty();
    }

    /** A session whose earlier question waits still has both answered, that one now. */
    void ask(long session, long request, long nowMs) {
        Question earlier = waiting.remove(session);
        if (earlier != null) {
            answer(session, earlier, nowMs);
        }
        waiting.put(session, new Question(request, nowMs + Bounds.LEADER_QUESTION_MS));
    }

    /** To be called after whatever may have made this master serve, and now and then. */
    void answerDue(long nowMs) {
        if (waiting.isEmpty()) {
            return; // as nearly always, and asked with each message
        }
        boolean serves = leadership.gate(nowMs) == Status.OK;
        Iterator<Map.Entry<Long, Question>> oldest = waiting.entrySet().iterator();
        while (oldest.hasNext()) {
            Map.Entry<Long, Question> next = oldest.next();
            if (!serves && nowMs < next.getValue().untilMs()) {
                return;
            }
            oldest.remove();
            answer(next.getKey(), next.getValue(), nowMs);
        }
    }

    /** The session has ended. */
    void drop(long session) {
        waiting.remove(session);
    }

    private void answer(long session, Question question, long nowMs) {
        outbox.send(session, new ExistsReply(question.request(), leadership.gate(nowMs), List.of()));
    }
}
