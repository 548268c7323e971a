// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Message;
import java.util.ArrayList;
import java.util.List;

/** Collects what one input leads to, in order. */
final class Outbox {
    private List<Action> actions = new ArrayList<>();

    void send(long session, Message message) {
        actions.add(new Action.Send(session, message));
    }

    void close(long session, String reason) {
        actions.add(new Action.Close(session, reason));
    }

    void raiseEpoch(long above) {
        actions.add(new Action.RaiseEpoch(above));
    }

    void storeRegister(Authority leader, Register register) {
        actions.add(new Action.StoreRegister(leader, register));
    }

    void lookAtLease() {
        actions.add(new Action.LookAtLease());
    }

    void leaderCrashed(Authority authority, String address) {
        actions.add(new Action.LeaderCrashed(authority, address));
    }

    void leaderSilent(Authority authority, String address, boolean proved, long atMs) {
        actions.add(new Action.LeaderSilent(authority, address, proved, atMs));
    }

    void report(String line) {
        actions.add(new Action.Report(line));
    }

    void evicted(Action.Evicted what) {
        actions.add(what);
    }

    List<Action> drain() {
        if (actions.isEmpty()) {
            return List.of();
        }
        List<Action> drained = actions;
        actions = new ArrayList<>();
        return drained;
    }
}
