// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A way to move bytes between a client and a storage node. */
public enum Protocol {
    TCP(1),
    SHM(2),
    /** By UCX between machines, beside tcp, which carries the requests. */
    UCX(4),
    /** By CANN; without tcp beside it, peers without CANN are not used. */
    ASCEND(8);

    private final int bit;

    Protocol(int bit) {
        this.bit = bit;
    }

    int bit() {
        return bit;
    }

    /** Those whose bits are set. */
    static Set<Protocol> of(int bits) {
        return Stream.of(values())
                .filter(protocol -> (bits & protocol.bit) != 0)
                .collect(Collectors.toUnmodifiableSet());
    }

    static int bits(Set<Protocol> protocols) {
        return protocols.stream().mapToInt(Protocol::bit).sum();
    }
}
