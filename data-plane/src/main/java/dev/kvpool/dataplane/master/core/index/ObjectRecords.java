// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.master.core.index.StoredObject.Fate;
import dev.kvpool.dataplane.master.core.lru.Links;
import dev.kvpool.dataplane.master.core.lru.UseOrder;
import dev.kvpool.dataplane.master.core.slab.KeyHash;
import dev.kvpool.dataplane.master.core.slab.Slabs;
import dev.kvpool.dataplane.master.core.tenant.TenantSums;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;

/**
 * How an object lies in memory: one block with its fields, the links of the tables and of the order of use, its first
 * replica, its key, and what retains it if anything does. 84 bytes and the key for nearly every object.
 */
final class ObjectRecords implements Links {
    private static final int COUNTER = 0;
    private static final int STATE = 8;
    private static final int LENGTHS = 16;
    private static final int EPOCH = 24;
    private static final int PAYLOAD_CRC = 28;
    private static final int BEFORE = 32;
    private static final int AFTER = 36;
    static final int NEXT_BY_ID = 40;
    static final int NEXT_BY_KEY = 44;
    static final int MORE_REPLICAS = 48;
    static final int FIRST_REPLICA = 52;

    /** When it was used last, and below that when a use of it counted last: 16 bits of each time. */
    private static final int USED_AT = FIRST_REPLICA + ReplicaRecords.FIRST_BYTES;

    private static final int KEY = USED_AT + Integer.BYTES;

    /** After the key, for objects with a {@link Retention}. */
    private static final int RETENTION_BYTES = 12;

    private static final long SOFT_MS_MAX = 0xffff_ffffL;

    /** The state: the end of the lease in its upper bits, signed, and below it the fate and flags. */
    private static final int LEASE_SHIFT = 21;

    private static final long LEASE_NEVER = Long.MIN_VALUE >> LEASE_SHIFT;
    private static final long LEASE_LATEST = Long.MAX_VALUE >> LEASE_SHIFT;
    private static final long FATE_MASK = 3;
    private static final long UNSETTLED = 0;
    private static final long PUBLISHED = 1;
    private static final long PENDING_FREE = 2;
    private static final long GONE = 3;
    private static final long SOFT = 1 << 2;
    private static final long HARD = 1 << 3;
    private static final long HAS_RETENTION = 1 << 4;
    private static final long HAS_FIRST_REPLICA = 1 << 5;
    private static final long UNLISTED = 1 << 6;
    private static final int WANTED_SHIFT = 7;
    private static final long WANTED_MASK = 0x1f << WANTED_SHIFT;
    private static final int COUNTED_SHIFT = 12;
    private static final long COUNTED_MASK = 0x1f << COUNTED_SHIFT;

    private static final int USES_SHIFT = 17;
    private static final long USES_MASK = (long) UseOrder.USES_MAX << USES_SHIFT;
    private static final long WITHDRAWN = 1 << 20;

    private static final int USED_AT_SHIFT = 16;
    private static final int COUNTED_AT_MASK = (1 << USED_AT_SHIFT) - 1;

    /** Times at which uses counted have units of 128 ms, from 1 to this many, and begin again: 0 is never. */
    private static final int COUNTED_AT_MAX = COUNTED_AT_MASK;

    private static final int COUNTED_AT_UNIT = 7;

    /** The most copies that an object is counted with. */
    static final int COUNTED_MAX = 0x1f;

    /** The lengths: 13 bits for the key's, the rest for the payload's. */
    private static final int PAYLOAD_SHIFT = 13;

    private static final long KEY_LENGTH_MASK = (1 << PAYLOAD_SHIFT) - 1;
    private static final long PAYLOAD_LENGTH_MAX = Long.MAX_VALUE >> PAYLOAD_SHIFT;

    private final Slabs slabs;
    private final KeyHash keyHash;

    /** Objects of epochs below this one are leased until then, whatever their own lease says. */
    private long recoveredBelow;

    private long recoveredUntilMs = Long.MIN_VALUE;

    private final TenantSums tenants = new TenantSums();

    ObjectRecords(Slabs slabs, KeyHash keyHash) {
        this.slabs = slabs;
        this.keyHash = keyHash;
    }

    /** Whether every field of a line fits its place here; a node that stays within the protocol sends no other. */
    static boolean canHold(DirectoryRecord line) {
        return Long.compareUnsigned(line.objectId().epoch(), Bounds.EPOCH_MAX) < 0
                && line.payloadLength() >= 0
                && line.payloadLength() <= PAYLOAD_LENGTH_MAX
                && line.key().length() <= Key.BYTES_MAX;
    }

    /** Bytes of the block of an object. */
    static int bytesOf(DirectoryRecord line) {
        return bytesOf(line.key().length(), isRetained(line));
    }

    static int bytesOf(int keyLength, boolean retained) {
        return KEY + keyLength + (retained ? RETENTION_BYTES : 0);
    }

    /** The same of an object that is there. */
    int bytesOf(int object) {
        return bytesOf(keyLength(object), is(object, HAS_RETENTION));
    }

    private static boolean isRetained(DirectoryRecord line) {
        return !line.retention().equals(Retention.NONE);
    }

    /** What other tenants than {@link Tenant#DEFAULT} have. */
    TenantSums tenants() {
        return tenants;
    }

    /** An object has so many bytes more in extents of nodes. */
    void takes(int object, long bytes) {
        if (isOfTenant(object)) {
            tenants.add(key(object), 0, bytes);
        }
    }

    /** Whether an object is one of those. */
    boolean isOfTenant(int object) {
        return slabs.getByte(object, KEY) == 0;
    }

    /** Whether an object is of this tenant; its key is compared where it lies. */
    boolean isOf(int object, Tenant tenant) {
        if (tenant.isDefault()) {
            return !isOfTenant(object);
        }
        Key prefix = tenant.prefix();
        return keyLength(object) > prefix.length() && slabs.hasBytes(object, KEY, prefix.bytes());
    }

    /** Whether an object is of the tenant of a qualified key. */
    boolean isOfTenantOf(int object, Key key) {
        if (!Tenant.isQualified(key)) {
            return !isOfTenant(object);
        }
        int prefix = Tenant.prefixLength(key);
        return prefix == 0
                ? hasKey(object, key)
                : keyLength(object) > prefix && slabs.hasBytes(object, KEY, key.bytes(), prefix);
    }

    /** A new object without replicas, in no table. */
    int create(DirectoryRecord line) {
        Retention retention = line.retention();
        boolean retained = isRetained(line);
        int keyLength = line.key().length();
        int object = slabs.allocate(bytesOf(keyLength, retained));
        if (Tenant.isQualified(line.key())) {
            tenants.add(line.key(), 1, 0);
        }
        slabs.setLong(object, COUNTER, line.objectId().counter());
        slabs.setInt(object, EPOCH, (int) line.objectId().epoch());
        slabs.setInt(object, PAYLOAD_CRC, line.payloadCrc());
        slabs.setLong(object, LENGTHS, (line.payloadLength() << PAYLOAD_SHIFT) | keyLength);
        slabs.setInt(object, MORE_REPLICAS, Slabs.NONE);
        slabs.setInt(object, USED_AT, 0);
        slabs.setBytes(object, KEY, line.key().bytes());
        long state = (LEASE_NEVER << LEASE_SHIFT) | (1 << WANTED_SHIFT) | UNSETTLED;
        if (retained) {
            state |= HAS_RETENTION | (retention.soft() ? SOFT : 0) | (retention.hard() ? HARD : 0);
            slabs.setInt(object, KEY + keyLength, (int) Math.clamp(retention.softMs(), 0, SOFT_MS_MAX));
            slabs.setLong(object, KEY + keyLength + Integer.BYTES, retention.group());
        }
        slabs.setLong(object, STATE, state);
        return object;
    }

    void destroy(int object) {
        if (isOfTenant(object)) {
            tenants.add(key(object), -1, 0);
        }
        int bytes = bytesOf(object);
        slabs.setLong(object, STATE, GONE);
        slabs.release(object, bytes);
    }

    /** False when the object has left the index; a number that was given out anew cannot be told from the old. */
    boolean isLive(int object) {
        return (state(object) & FATE_MASK) != GONE;
    }

    // ---- what the put gave it -------------------------------------------------------------------------------------

    ObjectId id(int object) {
        return new ObjectId(epoch(object), counter(object));
    }

    long epoch(int object) {
        return slabs.getInt(object, EPOCH);
    }

    long counter(int object) {
        return slabs.getLong(object, COUNTER);
    }

    boolean hasId(int object, ObjectId id) {
        return counter(object) == id.counter() && epoch(object) == id.epoch();
    }

    Key key(int object) {
        return Key.of(slabs.getBytes(object, KEY, keyLength(object)));
    }

    boolean hasKey(int object, Key key) {
        return keyLength(object) == key.length() && slabs.hasBytes(object, KEY, key.bytes());
    }

    boolean haveEqualKeys(int object, int other) {
        int length = keyLength(object);
        return length == keyLength(other) && slabs.haveEqualBytes(object, other, KEY, length);
    }

    int keyHash(int object) {
        return slabs.hash(keyHash, object, KEY, keyLength(object));
    }

    int keyLength(int object) {
        return (int) (slabs.getLong(object, LENGTHS) & KEY_LENGTH_MASK);
    }

    long payloadLength(int object) {
        return slabs.getLong(object, LENGTHS) >>> PAYLOAD_SHIFT;
    }

    int payloadCrc(int object) {
        return slabs.getInt(object, PAYLOAD_CRC);
    }

    boolean isHardPinned(int object) {
        return (state(object) & HARD) != 0;
    }

    boolean isSoftPinned(int object) {
        return (state(object) & SOFT) != 0;
    }

    Retention retention(int object) {
        long state = state(object);
        if ((state & HAS_RETENTION) == 0) {
            return Retention.NONE;
        }
        int at = KEY + keyLength(object);
        long softMs = Integer.toUnsignedLong(slabs.getInt(object, at));
        long group = slabs.getLong(object, at + Integer.BYTES);
        return new Retention((state & SOFT) != 0, (state & HARD) != 0, softMs, group);
    }

    /** Whether a line of a directory tells of the same content under the same key. */
    boolean agrees(int object, DirectoryRecord line) {
        return payloadLength(object) == line.payloadLength()
                && payloadCrc(object) == line.payloadCrc()
                && hasKey(object, line.key());
    }

    // ---- what changes ---------------------------------------------------------------------------------------------

    Fate fate(int object) {
        long fate = state(object) & FATE_MASK;
        return fate == PUBLISHED ? Fate.PUBLISHED : fate == PENDING_FREE ? Fate.PENDING_FREE : Fate.UNSETTLED;
    }

    void setFate(int object, Fate fate) {
        long bits = switch (fate) {
            case UNSETTLED -> UNSETTLED;
            case PUBLISHED -> PUBLISHED;
            case PENDING_FREE -> PENDING_FREE;
        };
        slabs.setLong(object, STATE, (state(object) & ~FATE_MASK) | bits);
    }

    long leaseUntilMs(int object) {
        long until = state(object) >> LEASE_SHIFT;
        long own = until == LEASE_NEVER ? Long.MIN_VALUE : until;
        return epoch(object) < recoveredBelow ? Math.max(own, recoveredUntilMs) : own;
    }

    /** Leases every object of an epoch below this one, those that are not known yet included. */
    void leaseRecovered(long belowEpoch, long untilMs) {
        recoveredBelow = belowEpoch;
        recoveredUntilMs = untilMs;
    }

    void setLeaseUntilMs(int object, long untilMs) {
        long until = Math.clamp(untilMs, LEASE_NEVER, LEASE_LATEST);
        slabs.setLong(object, STATE, (until << LEASE_SHIFT) | (state(object) & ((1L << LEASE_SHIFT) - 1)));
    }

    /** How many copies it should have; 1 until it is published. */
    int wanted(int object) {
        return (int) ((state(object) & WANTED_MASK) >>> WANTED_SHIFT);
    }

    /** Keeps a number of copies from 1 to {@link Bounds#REPLICAS_MAX}. */
    void setWanted(int object, int copies) {
        slabs.setLong(object, STATE, (state(object) & ~WANTED_MASK) | ((long) copies << WANTED_SHIFT));
    }

    /** How many of its copies the sums over all objects count; at most {@link #COUNTED_MAX}. */
    int counted(int object) {
        return (int) ((state(object) & COUNTED_MASK) >>> COUNTED_SHIFT);
    }

    void setCounted(int object, int copies) {
        slabs.setLong(object, STATE, (state(object) & ~COUNTED_MASK) | ((long) copies << COUNTED_SHIFT));
    }

    /** The place inside of the object's block is taken by a replica. */
    boolean hasFirstReplica(int object) {
        return is(object, HAS_FIRST_REPLICA);
    }

    void setHasFirstReplica(int object, boolean taken) {
        set(object, HAS_FIRST_REPLICA, taken);
    }

    /** Not to be found by its id, which another object has. */
    boolean isUnlisted(int object) {
        return is(object, UNLISTED);
    }

    void setUnlisted(int object) {
        set(object, UNLISTED, true);
    }

    /** Readers found it until it was given up; of what is pending free. */
    boolean isWithdrawn(int object) {
        return is(object, WITHDRAWN);
    }

    void setWithdrawn(int object, boolean found) {
        set(object, WITHDRAWN, found);
    }

    @Override
    public int before(int object) {
        return link(object, BEFORE);
    }

    @Override
    public int after(int object) {
        return link(object, AFTER);
    }

    @Override
    public void setBefore(int object, int other) {
        setLink(object, BEFORE, other);
    }

    @Override
    public void setAfter(int object, int other) {
        setLink(object, AFTER, other);
    }

    @Override
    public int uses(int object) {
        return (int) ((state(object) & USES_MASK) >>> USES_SHIFT);
    }

    @Override
    public int usedAt(int object) {
        return slabs.getInt(object, USED_AT) >>> USED_AT_SHIFT;
    }

    @Override
    public void setUsed(int object, int uses, int at) {
        slabs.setLong(object, STATE, (state(object) & ~USES_MASK) | ((long) uses << USES_SHIFT));
        slabs.setInt(object, USED_AT, (at << USED_AT_SHIFT) | (slabs.getInt(object, USED_AT) & COUNTED_AT_MASK));
    }

    /** Whether it is used another time, so long after the last use that counted: then this one counts. */
    boolean countUse(int object, long nowMs, long apartMs) {
        int used = slabs.getInt(object, USED_AT);
        int counted = used & COUNTED_AT_MASK;
        int now = 1 + Math.floorMod(nowMs >> COUNTED_AT_UNIT, COUNTED_AT_MAX);
        if (counted != 0 && Math.floorMod(now - counted, COUNTED_AT_MAX) < apartMs >> COUNTED_AT_UNIT) {
            return false;
        }
        slabs.setInt(object, USED_AT, (used & ~COUNTED_AT_MASK) | now);
        return true;
    }

    /** Another object, or a replica, that a field of this one names. */
    int link(int object, int field) {
        return slabs.getInt(object, field);
    }

    void setLink(int object, int field, int other) {
        slabs.setInt(object, field, other);
    }

    private boolean is(int object, long flag) {
        return (state(object) & flag) != 0;
    }

    private void set(int object, long flag, boolean on) {
        slabs.setLong(object, STATE, on ? state(object) | flag : state(object) & ~flag);
    }

    private long state(int object) {
        return slabs.getLong(object, STATE);
    }
}
