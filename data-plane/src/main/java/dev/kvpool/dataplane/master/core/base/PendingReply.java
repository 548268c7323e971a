// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.wire.message.ClientReply;
import dev.kvpool.nativelib.Status;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** A reply that is sent when each of its lines is decided. */
public final class PendingReply {
    final long session;
    final long untilMs;
    private final Function<List<Status>, ClientReply> shape;
    private final Status[] results;
    private final Outbox outbox;
    private final Runnable whenOver;
    private int open;
    private boolean over;

    PendingReply(
            long session,
            int lines,
            long untilMs,
            Outbox outbox,
            Function<List<Status>, ClientReply> shape,
            Runnable whenOver) {
        this.session = session;
        this.untilMs = untilMs;
        this.shape = shape;
        this.outbox = outbox;
        this.whenOver = whenOver;
        this.results = new Status[lines];
        this.open = lines;
    }

    public boolean isOver() {
        return over;
    }

    /** Decides one line; a line is decided once, later decisions are ignored. */
    public void decide(int line, Status status) {
        if (over || results[line] != null) {
            return;
        }
        results[line] = status;
        open--;
        sendWhenComplete();
    }

    /** Sends the reply if nothing is open, which is so from the start when it has no lines. */
    public void sendWhenComplete() {
        if (open == 0 && !over) {
            end();
            outbox.send(session, shape.apply(Arrays.asList(results)));
        }
    }

    /** Decides every open line alike. */
    void decideRest(Status status) {
        for (int line = 0; line < results.length; line++) {
            decide(line, status);
        }
    }

    /** The asker is gone. */
    void drop() {
        if (!over) {
            end();
        }
    }

    private void end() {
        over = true;
        whenOver.run();
    }
}
