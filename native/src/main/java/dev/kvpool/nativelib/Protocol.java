// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.util.Set;

/** A way to move bytes between a client and a storage node. */
public enum Protocol {
    TCP(1),
    SHM(2);

    private final int bit;

    Protocol(int bit) {
        this.bit = bit;
    }

    int bit() {
        return bit;
    }

    static int bits(Set<Protocol> protocols) {
        return protocols.stream().mapToInt(Protocol::bit).sum();
    }
}
