// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.audit;

import dev.kvpool.dataplane.http.Caller;
import dev.kvpool.dataplane.http.RequestAudit;
import dev.kvpool.identity.name.PeerName;
import dev.kvpool.wire.Verb;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes a line for each request that changes something, for each certificate, and for refusals. Who has no right yet may not fill a disk, nor push
 * out what others do: each kind of line has a bound of its own for a second, and the next line of the kind says how many were not written. Safe from
 * any thread, none of which waits for a line of another.
 */
public final class AuditLog implements RequestAudit {
    static final int REFUSALS_PER_SECOND_MAX = 10;
    static final int HINTS_PER_SECOND_MAX = 10;
    static final int OTHERS_PER_SECOND_MAX = 100;

    private static final int HTTP_OK = 200;
    private static final int HTTP_REDIRECT = 300;
    private static final String REFUSED = "refused";

    private static final String HINT = "POST /api/v1/hint";
    private static final Set<Verb> CHANGES = EnumSet.of(Verb.STEER, Verb.CHANGE_OBJECTS);

    private static final Logger LOG = LoggerFactory.getLogger("Audit");

    private final Consumer<String> lines;
    private final InstantSource clock;
    private final LongSupplier uptimeMs;
    private final Bound refusals = new Bound(REFUSALS_PER_SECOND_MAX);
    private final Bound dataRefusals = new Bound(REFUSALS_PER_SECOND_MAX);
    private final Bound hints = new Bound(HINTS_PER_SECOND_MAX);
    private final Bound grants = new Bound(OTHERS_PER_SECOND_MAX);
    private final Bound changes = new Bound(OTHERS_PER_SECOND_MAX);
    private long dropped;

    /** How many lines of a kind a second has room for; used under the lock of the log. */
    private static final class Bound {
        private final int max;
        private long second = -1;
        private int written;
        private long droppedSince;

        Bound(int max) {
            this.max = max;
        }

        boolean admit(long now) {
            if (now != second) {
                second = now;
                written = 0;
            }
            if (written == max) {
                droppedSince++;
                return false;
            }
            written++;
            return true;
        }

        long takeDropped() {
            long taken = droppedSince;
            droppedSince = 0;
            return taken;
        }
    }

    /**
     * Of a master that writes none, or to the log of the process.
     *
     * @param uptimeMs milliseconds of a clock that is never set
     */
    public static AuditLog of(boolean isOn, InstantSource clock, LongSupplier uptimeMs) {
        return new AuditLog(isOn ? LOG::info : line -> {}, clock, uptimeMs);
    }

    AuditLog(Consumer<String> lines, InstantSource clock, LongSupplier uptimeMs) {
        this.lines = lines;
        this.clock = clock;
        this.uptimeMs = uptimeMs;
    }

    @Override
    public void answered(Asked request, int status, boolean refused) {
        Optional<Verb> verb = Verb.ofRoute(request.method(), request.path());
        if (!refused && verb.filter(CHANGES::contains).isEmpty()) {
            return;
        }
        String asked = request.method() + " " + request.path();
        boolean isHint = asked.equals(HINT) && !refused;
        if (isHint && request.caller().name().isEmpty()) {
            return; // where no caller has a name the line would say little, and routers give hints all day
        }
        String done = status >= HTTP_OK && status < HTTP_REDIRECT ? "done" : "failed";
        AuditLine line = new AuditLine(
                request.caller(), asked, request.tenant().orElse(""), refused ? REFUSED : done, status, "");
        write(refused ? refusals : isHint ? hints : changes, line);
    }

    /**
     * A certificate was given.
     *
     * @param to the name and serial number in it, and the address of who asked
     */
    public void enrolled(Caller to, String verb) {
        write(grants, new AuditLine(to, verb, to.name().map(PeerName::tenant).orElse(""), "granted", HTTP_OK, ""));
    }

    /**
     * None was given.
     *
     * @param why a sentence, which holds nothing of the token
     */
    public void refusedToEnrol(Caller who, String verb, int status, String why) {
        write(refusals, new AuditLine(who, verb, "", REFUSED, status, why));
    }

    /**
     * A peer of the data port may not do what it asks for. The caller sees to it that one that asks again and again is not told of each time.
     *
     * @param message the kind of message in which it asked
     * @param why a sentence, or empty where the certificate does not allow it
     */
    public void refusedOnDataPort(Caller who, String message, String why) {
        write(
                dataRefusals,
                new AuditLine(
                        who,
                        "data " + message,
                        who.name().map(PeerName::tenant).orElse(""),
                        REFUSED,
                        AuditLine.NO_STATUS,
                        why));
    }

    /** How many lines were not written, since the start. */
    public synchronized long dropped() {
        return dropped;
    }

    /** The lock is not held while the line is made and written: the master's event loop takes it too. */
    private void write(Bound bound, AuditLine line) {
        long droppedBefore;
        synchronized (this) {
            if (!bound.admit(TimeUnit.MILLISECONDS.toSeconds(uptimeMs.getAsLong()))) {
                dropped++;
                return;
            }
            droppedBefore = bound.takeDropped();
        }
        lines.accept(line.text(clock.instant(), droppedBefore));
    }
}
