// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.Pattern;

/**
 * Whose an object is. Pools know objects by <em>qualified</em> keys: of the tenant {@code default} the key itself, of any other one a zero
 * byte, its name, a zero byte and the key. Names have no zero bytes, so no two tenants share a qualified key; and clients may not send keys
 * that begin with a zero byte, so none can name another's. Names of groups are qualified in the same way.
 */
public final class Tenant {
    /** Also of peers without a certificate, of agents and of admins. */
    public static final Tenant DEFAULT = new Tenant("default", new byte[0]);

    private static final byte MARK = 0;
    private static final Key NO_KEY = Key.of(new byte[0]);
    private static final Pattern LABEL = Pattern.compile("[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?");

    private final String name;
    private final byte[] prefix;
    private final Key prefixKey;

    private Tenant(String name, byte[] prefix) {
        this.name = name;
        this.prefix = prefix;
        this.prefixKey = Key.of(prefix);
    }

    /**
     * The tenant of a name.
     *
     * @throws IllegalArgumentException when the name is no DNS label
     */
    public static Tenant of(String name) {
        if (name.equals(DEFAULT.name)) {
            return DEFAULT;
        }
        if (!LABEL.matcher(name).matches()) {
            throw new IllegalArgumentException("a tenant is a DNS label in lower case, of at most 63 bytes");
        }
        byte[] bytes = name.getBytes(StandardCharsets.US_ASCII);
        byte[] prefix = new byte[bytes.length + 2];
        System.arraycopy(bytes, 0, prefix, 1, bytes.length);
        return new Tenant(name, prefix);
    }

    /** The tenant of a qualified key; that of one which no tenant can have is {@link #DEFAULT}. */
    public static Tenant of(Key qualified) {
        int end = prefixLength(qualified);
        return end == 0
                ? DEFAULT
                : new Tenant(
                        new String(qualified.bytes(), 1, end - 2, StandardCharsets.UTF_8),
                        Arrays.copyOf(qualified.bytes(), end));
    }

    /** A qualified key as its tenant's clients know it. */
    public static Key unqualified(Key qualified) {
        int end = prefixLength(qualified);
        return end == 0 ? qualified : Key.of(Arrays.copyOfRange(qualified.bytes(), end, qualified.length()));
    }

    /** Whether a key is of another tenant than {@link #DEFAULT}. */
    public static boolean isQualified(Key key) {
        return key.length() > 0 && key.bytes()[0] == MARK;
    }

    /** How many bytes the prefix of a key's tenant has; none for {@link #DEFAULT} and for a key that no tenant can have. */
    public static int prefixLength(Key key) {
        if (!isQualified(key)) {
            return 0;
        }
        byte[] bytes = key.bytes();
        for (int i = 1; i < bytes.length; i++) {
            if (bytes[i] == MARK) {
                return i + 1;
            }
        }
        return 0;
    }

    public String name() {
        return name;
    }

    public boolean isDefault() {
        return prefix.length == 0;
    }

    /** What the qualified keys of this tenant begin with; nothing for {@link #DEFAULT}. */
    public Key prefix() {
        return prefixKey;
    }

    /** The qualified key of what a client of this tenant calls {@code key}; one that is not valid when it may not call anything so. */
    public Key qualify(Key key) {
        if (isQualified(key)) {
            return NO_KEY;
        }
        if (isDefault() || key.length() == 0) {
            return key;
        }
        byte[] bytes = Arrays.copyOf(prefix, prefix.length + key.length());
        System.arraycopy(key.bytes(), 0, bytes, prefix.length, key.length());
        return Key.of(bytes);
    }

    /** Whether a qualified key is this tenant's. */
    public boolean owns(Key qualified) {
        return isDefault()
                ? !isQualified(qualified)
                : qualified.length() > prefix.length
                        && Arrays.equals(qualified.bytes(), 0, prefix.length, prefix, 0, prefix.length);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Tenant tenant && tenant.name.equals(name);
    }

    @Override
    public int hashCode() {
        return name.hashCode();
    }

    @Override
    public String toString() {
        return name;
    }
}
