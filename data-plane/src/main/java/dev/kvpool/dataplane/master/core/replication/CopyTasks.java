// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.replication;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.base.Clients;
import dev.kvpool.dataplane.master.core.base.Counters;
import dev.kvpool.dataplane.master.core.base.Counters.Count;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.command.Frees;
import dev.kvpool.dataplane.master.core.command.Orders;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.IndexRoom;
import dev.kvpool.dataplane.master.core.index.NodeView;
import dev.kvpool.dataplane.master.core.index.Replica;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.master.core.membership.Membership;
import dev.kvpool.dataplane.master.core.membership.View;
import dev.kvpool.dataplane.master.core.register.Absences;
import dev.kvpool.dataplane.master.core.tenant.TenantShares;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.ClientReply.TaskReport;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.nativelib.Status;
import dev.kvpool.wire.TaskState;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Copies and moves that clients asked for by name, one object each; {@link Copies} carries them out. Who asks for the same once more
 * before it has ended is told of the task there is. They are known to this leader only: the next one finds the copies that were
 * made, each of them wanted, and a number that it did not give is none.
 */
public final class CopyTasks {
    /** @param source id of the node that gives its copy up when the target has one; empty: none */
    private record Wish(StoredObject.Name object, String source, List<String> targets) {}

    private static final class Task {
        final long number;
        final Tenant tenant;
        final Wish wish;
        final long sinceMs;
        TaskState state = TaskState.PENDING;
        long changedMs;
        Status why = Status.OK;
        int failures;

        Task(long number, Tenant tenant, Wish wish, long nowMs) {
            this.number = number;
            this.tenant = tenant;
            this.wish = wish;
            this.sinceMs = nowMs;
            this.changedMs = nowMs;
        }
    }

    /**
     * What became of a request for a task.
     *
     * @param task its number; nothing unless {@code status} is OK
     */
    public record Begun(Status status, long task) {}

    private final Membership membership;
    private final Index index;
    private final IndexRoom room;
    private final Frees frees;
    private final Absences absences;
    private final Copies copies;
    private final Counters counters;
    private final Map<Long, Task> tasks = new HashMap<>();
    private final Map<Wish, Task> open = new HashMap<>();
    private final Map<StoredObject.Name, Integer> openOf = new HashMap<>();
    private final Deque<Task> turns = new ArrayDeque<>();
    private final Deque<Task> ended = new ArrayDeque<>();
    private int last;
    private final TenantShares shares;
    private long nowMs;

    public CopyTasks(View view, Orders orders, Copies copies, Clients clients, Counters counters) {
        this.membership = view.membership();
        this.index = view.index();
        this.room = view.room();
        this.frees = orders.frees();
        this.absences = orders.absences();
        this.copies = copies;
        this.counters = counters;
        this.shares = new TenantShares(clients::areAnyOfTenants);
    }

    /**
     * Begins a task for a published object. INVALID_ARGUMENT: the nodes cannot be those; QUEUE_FULL.
     *
     * @param source the node, as clients name it, that gives its copy up when the target has one; empty: none
     * @param targets the nodes that are to have one, likewise
     */
    public Begun begin(StoredObject object, String source, List<String> targets, Authority authority, long now) {
        nowMs = now;
        Wish wish = new Wish(
                object.name(), idOf(source), targets.stream().map(this::idOf).toList());
        if (!isPossible(object, wish)) {
            return new Begun(Status.INVALID_ARGUMENT, 0);
        }
        Task same = open.get(wish);
        if (same != null) {
            return new Begun(Status.OK, same.number);
        }
        if (!shares.hasRoom(object.tenant(), 1, Bounds.TASKS_MAX)) {
            counters.add(Count.FULL_TASKS);
            return new Begun(Status.QUEUE_FULL, 0);
        }
        Task task = new Task((authority.epoch() << Integer.SIZE) | ++last, object.tenant(), wish, now);
        tasks.put(task.number, task);
        open.put(wish, task);
        shares.add(task.tenant, 1);
        openOf.merge(wish.object, 1, Integer::sum);
        turns.add(task);
        return new Begun(Status.OK, task.number);
    }

    private String idOf(String name) {
        NodeView node = membership.named(name);
        return node == null ? name : node.id;
    }

    private boolean isPossible(StoredObject object, Wish wish) {
        int lacking = 0;
        for (String target : wish.targets) {
            NodeView node = membership.node(target);
            if (node == null || !takes(node) || target.equals(wish.source)) {
                return false;
            }
            lacking += object.isOn(node) ? 0 : 1;
        }
        boolean moves = !wish.source.isEmpty();
        NodeView source = moves ? membership.node(wish.source) : null;
        if (moves && (wish.targets.size() != 1 || source == null || replicaOn(object, source) == null)) {
            return false;
        }
        boolean areFew = object.usableCopies() + lacking <= Bounds.REPLICAS_MAX;
        return !wish.targets.isEmpty() && Set.copyOf(wish.targets).size() == wish.targets.size() && (moves || areFew);
    }

    /** The memory of a transient node goes with its process: it is never where a copy is kept. */
    private static boolean takes(NodeView node) {
        return node.usable() && !node.leaving() && !node.isTransient();
    }

    /** How far a task is; empty when that tenant has none of this number. */
    public Optional<TaskReport> report(Tenant tenant, long number, long now) {
        return Optional.ofNullable(tasks.get(number))
                .filter(task -> task.tenant.equals(tenant))
                .map(task -> new TaskReport(
                        number,
                        !task.wish.source.isEmpty(),
                        task.state,
                        task.why,
                        now - task.sinceMs,
                        now - task.changedMs));
    }

    /** Whether a copy of it is being made, or a client has asked for one. */
    public boolean decidesAbout(StoredObject object) {
        return copies.isUnderWay(object.name()) || isOpenFor(object);
    }

    /** Somebody decides which copies of it there are: none of them is too many before that has ended. */
    boolean isOpenFor(StoredObject object) {
        return openOf.containsKey(object.name());
    }

    public void endTerm() {
        tasks.clear();
        open.clear();
        shares.clear();
        openOf.clear();
        turns.clear();
        ended.clear();
    }

    public void tick(Authority authority, long now) {
        nowMs = now;
        for (int i = Math.min(turns.size(), Bounds.TASKS_PER_TICK); i > 0; i--) {
            Task task = turns.remove();
            goOn(task, authority);
            if (!isEnded(task)) {
                turns.add(task);
            }
        }
    }

    private static boolean isEnded(Task task) {
        return task.state == TaskState.SUCCESS || task.state == TaskState.FAILED;
    }

    private void goOn(Task task, Authority authority) {
        StoredObject object = index.object(task.wish.object);
        if (object == null || object.fate() != StoredObject.Fate.PUBLISHED) {
            end(task, TaskState.FAILED, Status.NOT_FOUND);
        } else if (task.failures > Bounds.TASK_FAILURES_MAX) {
            end(task, TaskState.FAILED, task.why);
        } else if (nowMs - task.sinceMs >= Bounds.TASK_MS_MAX) {
            end(task, TaskState.FAILED, task.why == Status.OK ? Status.TIMEOUT : task.why);
        } else if (!copies.isUnderWay(object.name())) {
            advance(task, object, authority);
        }
    }

    private void advance(Task task, StoredObject object, Authority authority) {
        for (String target : task.wish.targets) {
            NodeView node = membership.node(target);
            if (node == null || !takes(node)) {
                end(task, TaskState.FAILED, Status.UNAVAILABLE);
                return;
            }
            if (replicaOn(object, node) == null) {
                copy(task, object, node, authority);
                return;
            }
        }
        if (task.wish.source.isEmpty()) {
            index.want(object, Math.min(object.usableCopies(), Bounds.REPLICAS_MAX));
            end(task, TaskState.SUCCESS, Status.OK);
        } else {
            giveUpSource(task, object);
        }
    }

    private void copy(Task task, StoredObject object, NodeView target, Authority authority) {
        Replica from = source(object, task.wish.source);
        long bytes = ExtentSize.of(object.key().length(), object.payloadLength());
        if (from == null
                || !absences.mayRead(object)) { // a copy elsewhere of what may have been removed would be believed
            task.why = Status.UNAVAILABLE;
        } else if (object.isOn(target)) { // what is there is being freed
            task.why = Status.BUSY;
        } else if (!room.takesCopies() || !target.room.has(bytes)) {
            target.room.want(bytes);
            task.why = Status.NO_SPACE;
        } else if (copies.budget(from.node()) >= bytes && copies.budget(target) >= bytes) {
            become(task, TaskState.PROCESSING, Status.OK);
            copies.start(from, target, authority, (of, to, copied, done) -> {
                if (!done && !isEnded(task)) {
                    task.failures++;
                    become(task, TaskState.PENDING, Status.TRANSFER_FAILED);
                }
            });
        }
    }

    /** Readers were told of it, and may still come. */
    private void giveUpSource(Task task, StoredObject object) {
        NodeView source = membership.node(task.wish.source);
        if (source != null && replicaOn(object, source) != null) {
            if (object.isLeased(nowMs)) {
                task.why = Status.HAS_LEASE;
                return;
            }
            frees.trimAll(object, source);
        }
        end(task, TaskState.SUCCESS, Status.OK);
    }

    /** What may be read: that of the source where there is one, from memory where both media have it. */
    private Replica source(StoredObject object, String preferred) {
        Set<String> unreadable = copies.unreadableAt(object.name());
        Replica best = null;
        for (Replica replica : object.replicas()) {
            NodeView node = replica.node();
            if (!node.usable() || replica.isFreeing() || unreadable.contains(node.id)) {
                continue;
            }
            if (best == null || rank(replica, preferred) > rank(best, preferred)) {
                best = replica;
            }
        }
        return best;
    }

    private static int rank(Replica replica, String preferred) {
        return (replica.node().id.equals(preferred) ? 2 : 0) + (replica.isInMemory() ? 1 : 0);
    }

    /** On a usable node, and not about to go. */
    private static Replica replicaOn(StoredObject object, NodeView node) {
        for (Replica replica : object.replicas()) {
            if (replica.node() == node && node.usable() && !replica.isFreeing()) {
                return replica;
            }
        }
        return null;
    }

    private void become(Task task, TaskState state, Status why) {
        task.changedMs = task.state == state ? task.changedMs : nowMs;
        task.state = state;
        task.why = why;
    }

    private void end(Task task, TaskState state, Status why) {
        become(task, state, why);
        open.remove(task.wish);
        shares.add(task.tenant, -1);
        openOf.computeIfPresent(task.wish.object, (id, count) -> count == 1 ? null : count - 1);
        ended.add(task);
        if (ended.size() > Bounds.TASKS_MAX) {
            tasks.remove(ended.remove().number);
        }
    }
}
