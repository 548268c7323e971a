// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Message;
import java.util.ArrayList;
import java.util.List;

/** Collects what one input leads to, in order. */
public final class Outbox {
    private List<Action> actions = new ArrayList<>();

    public void send(long session, Message message) {
        actions.add(new Action.Send(session, message));
    }

    public void close(long session, String reason) {
        actions.add(new Action.Close(session, reason));
    }

    public void raiseEpoch(long above) {
        actions.add(new Action.RaiseEpoch(above));
    }

    public void storeRegister(Authority leader, Register register) {
        actions.add(new Action.StoreRegister(leader, register));
    }

    public void lookAtLease() {
        actions.add(new Action.LookAtLease());
    }

    public void handOver(Authority leader) {
        actions.add(new Action.HandOver(leader));
    }

    public void leaderCrashed(Authority authority, String address) {
        actions.add(new Action.LeaderCrashed(authority, address));
    }

    public void leaderSilent(Authority authority, String address, boolean proved, long atMs) {
        actions.add(new Action.LeaderSilent(authority, address, proved, atMs));
    }

    public void report(String line) {
        actions.add(new Action.Report(line));
    }

    /** Something that a person may have to look after. */
    public void warn(String line) {
        actions.add(new Action.Report(line, true));
    }

    public void evicted(Action.Evicted what) {
        actions.add(what);
    }

    public void changed(Change what) {
        actions.add(new Action.Changed(what));
    }

    public List<Action> drain() {
        if (actions.isEmpty()) {
            return List.of();
        }
        List<Action> drained = actions;
        actions = new ArrayList<>();
        return drained;
    }
}
