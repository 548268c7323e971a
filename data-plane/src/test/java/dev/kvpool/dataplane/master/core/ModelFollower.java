// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Change;
import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.wire.message.Authority;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Follows a master's changes as docs/reference/events.md says that a subscriber does: a snapshot in parts, and every change as it comes. */
final class ModelFollower {
    /** What is known of an object. */
    private record Entry(Key key, long bytes, long group, Set<Change.Copy> copies) {}

    private final ModelMaster master;
    private final Authority authority;
    private final Map<ObjectId, Entry> objects = new HashMap<>();
    private final Set<String> usable;
    private final List<Change> heard = new ArrayList<>();
    private final Index.Parts parts;
    private boolean ended;

    ModelFollower(ModelMaster master) {
        this.master = master;
        master.onChange(this::apply);
        authority = master.core().changes().open();
        usable = new HashSet<>();
        master.core().changes().usableNodes().forEach(node -> usable.add(node.id()));
        parts = master.core().changes().parts(Optional.empty());
    }

    /** Takes another part of the snapshot; whether that was the last. */
    boolean goOn(int objectsOfPart) {
        parts.next(objectsOfPart).forEach(this::apply);
        return parts.isDone();
    }

    ModelFollower withAll() {
        while (!goOn(100)) {}
        return this;
    }

    Authority authority() {
        return authority;
    }

    boolean isEnded() {
        return ended;
    }

    /** The changes since this was asked last. */
    List<Change> news() {
        List<Change> news = List.copyOf(heard);
        heard.clear();
        return news;
    }

    private void apply(Change change) {
        assertThat(ended).as("%s after the end", change).isFalse();
        heard.add(change);
        switch (change) {
            case Change.Stored it ->
                objects.put(it.id(), new Entry(it.key(), it.bytes(), it.group(), new HashSet<>(it.copies())));
            case Change.Copied it -> {
                if (objects.containsKey(it.id())) {
                    objects.get(it.id()).copies.add(it.copy());
                }
            }
            case Change.Dropped it -> {
                if (objects.containsKey(it.id())) {
                    objects.get(it.id()).copies.remove(it.copy());
                }
            }
            case Change.Removed it -> objects.remove(it.id());
            case Change.Purged it -> objects.keySet().removeIf(id -> it.below().isNewerThan(id));
            case Change.Node it -> {
                boolean _ = it.usable() ? usable.add(it.id()) : usable.remove(it.id());
            }
            case Change.Ended _ -> ended = true;
        }
    }

    /** Fails unless this knows exactly what the master would tell about every key. */
    void isExact(long nowMs) {
        Map<String, Set<String>> told = new HashMap<>();
        for (String key : master.core().keys(Tenant.DEFAULT, Integer.MAX_VALUE)) {
            Set<String> holders = new TreeSet<>();
            master.core()
                    .explain(Key.of(key), nowMs)
                    .orElseThrow()
                    .holders()
                    .forEach(it -> holders.add(text(it.node(), it.inMemory(), it.reachable())));
            told.put(key, holders);
        }
        Map<String, Set<String>> known = new HashMap<>();
        for (Entry entry : objects.values()) {
            Set<String> holders = new TreeSet<>();
            entry.copies.forEach(it -> holders.add(text(it.node(), it.inMemory(), usable.contains(it.node()))));
            assertThat(known.put(entry.key.toString(), holders))
                    .as("a second object of %s", entry.key)
                    .isNull();
        }
        assertThat(known).isEqualTo(told);
        Map<ObjectId, Entry> all = new HashMap<>();
        Index.Parts again = master.core().changes().parts(Optional.empty());
        while (!again.isDone()) {
            again.next(100)
                    .forEach(it ->
                            all.put(it.id(), new Entry(it.key(), it.bytes(), it.group(), new HashSet<>(it.copies()))));
        }
        assertThat(objects).isEqualTo(all);
    }

    private static String text(String node, boolean inMemory, boolean reachable) {
        return node + (inMemory ? " memory" : " ssd") + (reachable ? "" : " away");
    }
}
