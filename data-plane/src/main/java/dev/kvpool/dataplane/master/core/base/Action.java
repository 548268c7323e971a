// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Message;
import dev.kvpool.dataplane.wire.message.ObjectId;
import java.util.List;

/** What the core wants done by the process around it. */
public sealed interface Action {
    /** Deliver a message, after all earlier ones to the same session. */
    record Send(long session, Message message) implements Action {}

    /** End a connection; {@code reason} is for the log. */
    record Close(long session, String reason) implements Action {}

    /** A node obeys an epoch that is not ours: hold the Lease with a higher epoch than {@code above}, or lose it. */
    record RaiseEpoch(long above) implements Action {}

    /** Have the Lease hold this register, together with a renewal, as long as we lead under this authority, and say when it does. */
    record StoreRegister(Authority leader, Register register) implements Action {}

    /** The holder of the Lease may have given it back: look at it now. */
    record LookAtLease() implements Action {}

    /** Give the Lease to another master, as long as this one leads under this authority: too little of the pool reaches it. */
    record HandOver(Authority leader) implements Action {}

    /**
     * Most expected nodes say that the holder of this authority has crashed. If whoever may listen at {@code address} is not
     * that process either, its Lease need not run out.
     *
     * @param address HOST:PORT
     */
    record LeaderCrashed(Authority authority, String address) implements Action {}

    /**
     * Most expected nodes have heard nothing of the holder of this authority for a while. If it does not answer at {@code address}
     * either, and has not renewed its Lease for {@link Bounds#SURE_MS}, that need not run out.
     *
     * @param address HOST:PORT
     * @param proved at {@code atMs}, on the core's clock, the holder was not sure to lead unless it had renewed its Lease so lately;
     *     else that is to be expected soon
     */
    record LeaderSilent(Authority authority, String address, boolean proved, long atMs) implements Action {}

    /** Somebody wants to hear of it, see {@link ChangeFeed}. */
    record Changed(Change change) implements Action {}

    /**
     * A decision worth one line in the log.
     *
     * @param warns a person may have to look after something
     */
    record Report(String line, boolean warns) implements Action {
        public Report(String line) {
            this(line, false);
        }
    }

    /**
     * An object is evicted: nobody is sent to it any more. Only with {@link CoreSettings#evictionsTold}. Comes in the same turn as the decision, so before every message that
     * frees it or says that it is gone.
     *
     * @param bytes of its value
     * @param nodes that hold it, one for each copy
     * @param idleMs since its last lease ended, or since it was published
     */
    record Evicted(Key key, ObjectId id, long bytes, List<String> nodes, long idleMs) implements Action {
        public Evicted {
            nodes = List.copyOf(nodes);
        }
    }
}
