// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.membership;

import dev.kvpool.dataplane.master.core.index.Index;
import dev.kvpool.dataplane.master.core.index.StoredObject;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.collections.Long2ObjectHashMap;

/**
 * Objects that are used and evicted together. A lease on one member is kept once for the group and reaches another member
 * when somebody asks about that one: a reader pays for what it reads, however large the group is. Objects of different tenants are never in
 * one group, whatever numbers their clients gave them.
 */
public final class Groups {
    private static final int NONE = 0;
    private static final int COMPACT_MIN = 64;

    private static final class Group {
        private final List<ObjectId> members = new ArrayList<>(2);
        private long leaseUntilMs = Long.MIN_VALUE;
    }

    private final Index index;
    private final Long2ObjectHashMap<Group> groups = new Long2ObjectHashMap<>();

    /** Those of other tenants than the default one. */
    private final Map<Tenant, Long2ObjectHashMap<Group>> ofTenants = new HashMap<>();

    /** Ids in all lists, those that are gone included, and how many of them there may be before those are sought. */
    private long listed;

    private long compactAt = COMPACT_MIN;

    Groups(Index index) {
        this.index = index;
    }

    /** An object was published. */
    public void joined(StoredObject object) {
        long number = object.retention().group();
        if (number == NONE) {
            return;
        }
        if (listed >= compactAt) {
            compact();
        }
        groupsOf(object.tenant())
                .computeIfAbsent(number, absent -> new Group())
                .members
                .add(object.id());
        listed++;
    }

    /** An object was leased: so are the others of its group. */
    public void leased(StoredObject object) {
        Group group = groupOf(object);
        if (group != null) {
            group.leaseUntilMs = Math.max(group.leaseUntilMs, object.leaseUntilMs());
        }
    }

    /**
     * Gives an object the lease its group was given since it was last asked about, and a place among the warm with it.
     *
     * @return whether there was one, running or not
     */
    public boolean refresh(StoredObject object) {
        Group group = groupOf(object);
        if (group == null || group.leaseUntilMs <= object.leaseUntilMs()) {
            return false;
        }
        index.lease(object, group.leaseUntilMs);
        index.touch(object);
        return true;
    }

    /** The published objects of an object's group, itself left out. */
    public List<StoredObject> others(StoredObject object) {
        Group group = groupOf(object);
        if (group == null) {
            return List.of();
        }
        List<StoredObject> others = published(object.tenant(), group, Integer.MAX_VALUE);
        others.remove(object);
        return others;
    }

    private Long2ObjectHashMap<Group> groupsOf(Tenant tenant) {
        return tenant.isDefault() ? groups : ofTenants.computeIfAbsent(tenant, absent -> new Long2ObjectHashMap<>());
    }

    /** The published objects of the group of this qualified name; more than {@code most} are not looked for when there are more. */
    public List<StoredObject> members(Key name, int most) {
        Tenant tenant = Tenant.of(name);
        Group group = groupOf(tenant, GroupNumber.of(Tenant.unqualified(name)));
        return group == null ? new ArrayList<>() : published(tenant, group, most);
    }

    private List<StoredObject> published(Tenant tenant, Group group, int most) {
        List<StoredObject> members = new ArrayList<>();
        Set<ObjectId> seen = new HashSet<>();
        for (ObjectId id : group.members) {
            // Who was out of sight for a while is listed again.
            StoredObject member = seen.add(id) ? published(tenant, id) : null;
            if (member != null) {
                members.add(member);
            }
            if (members.size() > most) {
                break;
            }
        }
        return members;
    }

    private Group groupOf(StoredObject object) {
        long number = object.retention().group();
        return number == NONE ? null : groupOf(object.tenant(), number);
    }

    private Group groupOf(Tenant tenant, long number) {
        Long2ObjectHashMap<Group> theirs = tenant.isDefault() ? groups : ofTenants.get(tenant);
        return theirs == null ? null : theirs.get(number);
    }

    private StoredObject published(Tenant tenant, ObjectId id) {
        StoredObject object = index.object(new StoredObject.Name(id, tenant));
        return object != null && object.fate() == StoredObject.Fate.PUBLISHED ? object : null;
    }

    /** Forgets members that are gone. Done when the lists have doubled, so each id is looked at twice on average. */
    private void compact() {
        listed = 0;
        compact(Tenant.DEFAULT, groups);
        ofTenants.forEach(this::compact);
        ofTenants.values().removeIf(theirs -> theirs.isEmpty());
        compactAt = Math.max(COMPACT_MIN, 2 * listed);
    }

    private void compact(Tenant tenant, Long2ObjectHashMap<Group> some) {
        for (Group group : some.values()) {
            group.members.removeIf(id -> published(tenant, id) == null);
            listed += group.members.size();
        }
        some.values().removeIf(group -> group.members.isEmpty());
    }
}
