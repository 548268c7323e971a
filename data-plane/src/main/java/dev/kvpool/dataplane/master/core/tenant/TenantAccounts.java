// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.tenant;

import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.HashMap;
import java.util.Map;

/**
 * What counts against the quota of each tenant: objects that can be read, and grants of objects that cannot be read yet. Both are
 * booked with the copies that an object should have, so that neither a copy more while a node is emptied nor one less while a node is
 * away changes what a tenant may put. Who books something takes the same amount back.
 */
public final class TenantAccounts {
    /**
     * What one tenant has.
     *
     * @param objects that can be read
     * @param bytes of these
     * @param grantedObjects that are being put
     * @param grantedBytes of these
     */
    public record Balance(long objects, long bytes, long grantedObjects, long grantedBytes) {
        public static final Balance NOTHING = new Balance(0, 0, 0, 0);

        /** Bytes of both. */
        public long allBytes() {
            return bytes + grantedBytes;
        }

        /** Objects of both. */
        public long allObjects() {
            return objects + grantedObjects;
        }
    }

    private static final class Account {
        private long objects;
        private long bytes;
        private long grantedObjects;
        private long grantedBytes;
        private long pinnedBytes;
        private long yieldingBytes;
        private long unaskedObjects;
        private long unaskedBytes;

        private boolean isEmpty() {
            return objects == 0 && bytes == 0 && grantedObjects == 0 && grantedBytes == 0 && pinnedBytes == 0;
        }

        private Balance balance() {
            return new Balance(objects, bytes, grantedObjects, grantedBytes);
        }
    }

    /** Apart from the others: pools without tenants have this one alone. */
    private final Account ofDefault = new Account();

    private final Map<String, Account> others = new HashMap<>();

    /** A pinned object that gives way; others with its id may be another tenant's. */
    private record Yielding(Tenant tenant, ObjectId id) {}

    /** Pinned objects that give way to a pinned put under way, and how much of them counts there already. */
    private final Map<Yielding, Long> yielding = new HashMap<>();

    /** An object of the default tenant can be read, or not any more, or should have more or fewer copies. */
    public void storedOfDefault(long objects, long bytes) {
        ofDefault.objects += objects;
        ofDefault.bytes += bytes;
    }

    /** The same of the tenant whose qualified key this is. */
    public void stored(Key qualified, long objects, long bytes) {
        String name = Tenant.of(qualified).name();
        Account account = account(name);
        account.objects += objects;
        account.bytes += bytes;
        close(name, account);
    }

    /** A put of so many objects and bytes is granted; negative when it ended. */
    public void granted(Key qualified, long objects, long bytes) {
        String name = Tenant.of(qualified).name();
        Account account = account(name);
        account.grantedObjects += objects;
        account.grantedBytes += bytes;
        close(name, account);
    }

    /** So much more of what a tenant has, or is putting, is hard-pinned, all copies together; negative when it is less. */
    public void pinned(Tenant tenant, long bytes) {
        Account account = account(tenant.name());
        account.pinnedBytes += bytes;
        close(tenant.name(), account);
    }

    /**
     * A pinned object of a tenant is to give way to a put that is pinned as well and under way: so many bytes of the two count once, as long
     * as both are there.
     */
    public void yields(Tenant tenant, ObjectId present, long bytes) {
        yielding.put(new Yielding(tenant, present), bytes);
        account(tenant.name()).yieldingBytes += bytes;
    }

    /** The put has ended, or the object is no longer published. */
    public void yieldsNoMore(Tenant tenant, ObjectId present) {
        Long bytes = yielding.remove(new Yielding(tenant, present));
        if (bytes != null) {
            account(tenant.name()).yieldingBytes -= bytes;
        }
    }

    /** How much of what a tenant has, and is putting, is hard-pinned. */
    public long pinnedBytes(String tenant) {
        Account account = tenant.equals(Tenant.DEFAULT.name()) ? ofDefault : others.get(tenant);
        return account == null ? 0 : account.pinnedBytes - account.yieldingBytes;
    }

    /** What counts and no client has asked for now. */
    public record Unasked(long objects, long bytes) {
        private static final Unasked NOTHING = new Unasked(0, 0);
    }

    /**
     * Of what was booked as stored so much is there without a put: a node has come back with it, or the pool wants more copies. It is kept
     * until {@link #takeUnasked}.
     */
    public void unasked(Tenant tenant, long objects, long bytes) {
        Account account = account(tenant.name());
        account.unaskedObjects += objects;
        account.unaskedBytes += bytes;
    }

    /** What was booked so since the last time. */
    public Unasked takeUnasked(String tenant) {
        Account account = tenant.equals(Tenant.DEFAULT.name()) ? ofDefault : others.get(tenant);
        if (account == null) {
            return Unasked.NOTHING;
        }
        Unasked taken = new Unasked(account.unaskedObjects, account.unaskedBytes);
        account.unaskedObjects = 0;
        account.unaskedBytes = 0;
        return taken;
    }

    private Account account(String name) {
        return name.equals(Tenant.DEFAULT.name()) ? ofDefault : others.computeIfAbsent(name, absent -> new Account());
    }

    private void close(String name, Account account) {
        if (account != ofDefault && account.isEmpty()) {
            others.remove(name);
        }
    }

    /** What a tenant has now. */
    public Balance of(String tenant) {
        Account account = tenant.equals(Tenant.DEFAULT.name()) ? ofDefault : others.get(tenant);
        return account == null ? Balance.NOTHING : account.balance();
    }

    /** The names of those other than the default one that have anything. */
    public Iterable<String> names() {
        return others.keySet();
    }
}
