// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.events;

import dev.kvpool.dataplane.wire.message.Authority;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A place in the stream of one leadership: behind its change of this number. The nonce is part of it, since the epoch of a Lease that was
 * deleted begins again.
 */
public record Position(Authority authority, long sequence) {
    private static final Pattern FORM =
            Pattern.compile("(?<epoch>[0-9]{1,18})\\.(?<nonce>[0-9a-f]{16})\\.(?<sequence>[0-9]{1,18})");

    /**
     * Reads one.
     *
     * @throws IllegalArgumentException when it is not as {@link #toString} writes it
     */
    public static Position parse(String text) {
        Matcher parts = FORM.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "a position is EPOCH.NONCE.SEQUENCE as an event has it in \"at\", not " + text);
        }
        return new Position(
                new Authority(Long.parseLong(parts.group("epoch")), Long.parseUnsignedLong(parts.group("nonce"), 16)),
                Long.parseLong(parts.group("sequence")));
    }

    @Override
    public String toString() {
        return "%d.%016x.%d".formatted(authority.epoch(), authority.nonce(), sequence);
    }
}
