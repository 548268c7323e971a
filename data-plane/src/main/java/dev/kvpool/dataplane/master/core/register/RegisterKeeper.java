// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.register;

import dev.kvpool.dataplane.master.core.base.Leadership;
import dev.kvpool.dataplane.master.core.base.Outbox;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.register.Member;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.register.RegisterText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * The pool's register as this master knows it, and as it wants it while it leads. One change is on its way to the Lease at a time; what
 * is changed meanwhile goes with the next. A change counts when the Lease holds it; until then it may or may not be there, so what
 * somebody relies on must hold in the one that is stored and in the one that is being written.
 */
public final class RegisterKeeper {
    private record Wait(Predicate<Register> condition, Runnable whenSure) {}

    private final Leadership leadership;
    private final Outbox outbox;
    private final List<Wait> waits = new ArrayList<>();
    private Register stored = Register.NONE;

    /** On its way to the Lease; null when nothing is. */
    private Register writing;

    private Register wanted = Register.NONE;
    private boolean tooLong;

    // Of all three, since they are asked for at every request.
    private Set<String> possibleMembers = Set.of();
    private Set<String> possibleWitnesses = Set.of();
    private boolean isAnyBehind;
    private boolean isAnyStoredBehind;
    private boolean isAnyTransient;

    public RegisterKeeper(Leadership leadership, Outbox outbox) {
        this.leadership = leadership;
        this.outbox = outbox;
    }

    /** The register that the Lease had when this master took it. */
    public void begin(Register taken) {
        endTerm();
        stored = taken;
        wanted = taken;
        changed();
    }

    /** A master that does not lead has seen it in the Lease. */
    public void seen(Register register) {
        if (!leadership.leads()) {
            stored = register;
            wanted = register;
            changed();
        }
    }

    public void endTerm() {
        writing = null;
        wanted = stored;
        waits.clear();
        tooLong = false;
        changed();
    }

    /** As the Lease had it last, as far as is known. */
    public Register stored() {
        return stored;
    }

    /** What the Lease may have now: that, and what is on its way there. */
    public List<Register> inLease() {
        return writing == null ? List.of(stored) : List.of(stored, writing);
    }

    /** As it is to be. */
    public Register wanted() {
        return wanted;
    }

    /** Whether something holds, whatever becomes of the write that is under way. */
    public boolean isSure(Predicate<Register> condition) {
        return condition.test(stored) && (writing == null || condition.test(writing));
    }

    /**
     * Whether something holds in the register as it is, may come to be, or is wanted: who must be careful asks for that.
     */
    public boolean isPossible(Predicate<Register> condition) {
        return condition.test(stored) || (writing != null && condition.test(writing)) || condition.test(wanted);
    }

    /** What every leader after this one will know to be the longest object lease, at least. */
    long sureObjectLeaseMs() {
        return writing == null ? stored.objectLeaseMs() : Math.min(stored.objectLeaseMs(), writing.objectLeaseMs());
    }

    private void changed() {
        Set<String> members = new TreeSet<>();
        Set<String> witnesses = new TreeSet<>();
        isAnyBehind = false;
        isAnyTransient = false;
        for (Register register : writing == null ? List.of(stored, wanted) : List.of(stored, writing, wanted)) {
            members.addAll(register.members().keySet());
            witnesses.addAll(register.witnesses().keySet());
            isAnyBehind |= register.isAnyBehind();
            isAnyTransient |= register.members().values().stream().anyMatch(Member::isTransient);
        }
        possibleMembers = members;
        possibleWitnesses = witnesses;
        isAnyStoredBehind = stored.isAnyBehind();
    }

    /** Nodes that may hold objects, whatever becomes of what is being written. */
    Set<String> possibleMembers() {
        return possibleMembers;
    }

    /** Nodes that must have every tombstone, whatever becomes of what is being written. */
    Set<String> possibleWitnesses() {
        return possibleWitnesses;
    }

    boolean isAnyBehind() {
        return isAnyBehind;
    }

    boolean isAnyStoredBehind() {
        return isAnyStoredBehind;
    }

    boolean isAnyTransient() {
        return isAnyTransient;
    }

    /** Changes it, which is written together with all else that this turn brings. Only while this master leads. */
    public void change(UnaryOperator<Register> change) {
        changeWithin(RegisterText.CHARS_MAX, change);
    }

    /** The same, unless the register would be longer than this. */
    public void changeWithin(int charsMax, UnaryOperator<Register> change) {
        Register next = change.apply(wanted);
        if (next.saysTheSame(wanted) || !leadership.leads()) {
            return;
        }
        if (!fits(next, charsMax)) {
            if (!tooLong) {
                outbox.report(
                        "the register is full: it would be longer than %d characters or %d members, with %d members and %d nodes behind"
                                .formatted(
                                        charsMax,
                                        RegisterText.MEMBERS_MAX,
                                        next.members().size(),
                                        next.behind().size()));
            }
            tooLong = true;
            return;
        }
        tooLong = false;
        wanted = next;
        changed();
    }

    private static boolean fits(Register next, int charsMax) {
        return next.members().size() <= RegisterText.MEMBERS_MAX
                && RegisterText.write(next).length() <= charsMax;
    }

    /** Takes as many storage nodes up as there is room for, those with short ids first. */
    public void enrolStorageNodes(List<NodeView> nodes) {
        enrol(RegisterText.CHARS_MAX, nodes, RegisterKeeper::enrolled);
    }

    private static Register enrolled(Register register, List<NodeView> nodes) {
        Map<String, NodeView> byId = nodes.stream().collect(Collectors.toMap(node -> node.id, node -> node));
        return register.enrolled(
                byId.keySet(),
                id -> byId.get(id).memory(),
                id -> byId.get(id).ssd.number());
    }

    /** The same of engines. */
    public void enrolEngines(List<NodeView> engines) {
        enrol(RegisterText.CHARS_FOR_ENGINES, engines, RegisterKeeper::lent);
    }

    private static Register lent(Register register, List<NodeView> engines) {
        return register.lent(engines.stream().collect(Collectors.toMap(engine -> engine.id, NodeView::lender)));
    }

    /** All in one change, which copies what the register has of all. If not all have room, one with a long id does not keep others out. */
    private void enrol(int charsMax, List<NodeView> nodes, BiFunction<Register, List<NodeView>, Register> with) {
        changeWithin(charsMax, it -> with.apply(it, nodes));
        if (nodes.stream().allMatch(node -> wanted.isMember(node.id))) {
            return;
        }
        List<NodeView> shortFirst = new ArrayList<>(nodes);
        shortFirst.sort(
                Comparator.comparingInt((NodeView node) -> node.id.length()).thenComparing(node -> node.id));
        int tooMany = shortFirst.size();
        // The first one alone to begin with: mostly not even that has room.
        int enough = 0;
        for (int tried = 1; enough + 1 < tooMany; tried = (enough + tooMany) / 2) {
            if (fits(with.apply(wanted, shortFirst.subList(0, tried)), charsMax)) {
                enough = tried;
            } else {
                tooMany = tried;
            }
        }
        List<NodeView> taken = shortFirst.subList(0, enough);
        change(it -> with.apply(it, taken));
    }

    /** Told once, when something is sure to hold; never when this term ends before. */
    public void whenSure(Predicate<Register> condition, Runnable whenSure) {
        if (isSure(condition)) {
            whenSure.run();
        } else {
            waits.add(new Wait(condition, whenSure));
        }
    }

    /** Sends what is wanted on its way, and tells once when just that is sure to hold, or never: see {@link #whenSure}. */
    public void whenWantedIsSure(Runnable whenSure) {
        send();
        boolean isUnderWay = writing == null || wanted.saysTheSame(writing);
        long revision = (writing == null ? stored : writing).revision() + (isUnderWay ? 0 : 1);
        // What is wanted by then may be what is stored already, and nothing is written.
        whenSure(it -> it.revision() >= revision || it.saysTheSame(wanted), whenSure);
    }

    /** Sends what is wanted on its way, if nothing else is. */
    public void send() {
        if (writing == null && leadership.leads() && !wanted.saysTheSame(stored)) {
            writing = wanted.as(stored.revision() + 1);
            changed();
            outbox.storeRegister(leadership.authority(), writing);
        }
    }

    /** The Lease holds this one now. */
    public void isStored(Register register) {
        if (writing == null || !register.equals(writing)) {
            return; // of a term that has ended
        }
        stored = writing;
        writing = null;
        changed();
        List<Wait> sure = new ArrayList<>();
        waits.removeIf(wait -> isSure(wait.condition) && sure.add(wait));
        sure.forEach(wait -> wait.whenSure.run());
    }
}
