// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.removal;

import com.google.re2j.Pattern;
import com.google.re2j.PatternSyntaxException;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.Tenant;
import java.util.Optional;

/**
 * Which keys are meant: those in which a regular expression matches somewhere. Its syntax is RE2's, so that the time for one key is
 * at most the length of the key times the size of the pattern, whatever a client sends; and that size is bounded before the
 * pattern is compiled, since a repeated part is compiled as often as it is repeated.
 */
public final class KeyPattern {
    public static final KeyPattern EVERYTHING = new KeyPattern(null, 0, null);

    static final int LENGTH_MAX = 1024;

    /** In single characters and classes, repeated ones as often as they are repeated at most. */
    static final int SIZE_MAX = 256;

    /** So many steps count as one object that is come to. */
    private static final int STEPS_OF_A_VISIT = 1024;

    private final Pattern pattern;
    private final int size;

    /** Null: of all. */
    private final Tenant tenant;

    private KeyPattern(Pattern pattern, int size, Tenant tenant) {
        this.pattern = pattern;
        this.size = size;
        this.tenant = tenant;
    }

    /** The same, of the keys of one tenant alone. */
    public KeyPattern of(Tenant one) {
        return new KeyPattern(pattern, size, one);
    }

    /** The pattern of a text, {@link #EVERYTHING} of an empty one; nothing when it is none, or too large. */
    public static Optional<KeyPattern> of(String text) {
        if (text.isEmpty()) {
            return Optional.of(EVERYTHING);
        }
        if (text.length() > LENGTH_MAX || PatternSize.of(text) > SIZE_MAX) {
            return Optional.empty();
        }
        try {
            Pattern pattern = Pattern.compile(text, Pattern.DOTALL);
            return Optional.of(new KeyPattern(pattern, pattern.programSize(), null));
        } catch (PatternSyntaxException e) {
            return Optional.empty();
        }
    }

    /** Whether it is every key of every tenant. */
    public boolean isEverything() {
        return pattern == null && tenant == null;
    }

    /** Whether a qualified key is meant; the expression sees it as its tenant's clients know it. */
    public boolean matches(Key key) {
        if (tenant != null && !tenant.owns(key)) {
            return false;
        }
        return pattern == null
                || pattern.matcher(Tenant.unqualified(key).bytes()).find();
    }

    /** How much it is to look whether a key matches, at most, counted in objects that are come to. */
    int visits(Key key) {
        return 1 + (int) ((long) key.length() * size / STEPS_OF_A_VISIT);
    }
}
