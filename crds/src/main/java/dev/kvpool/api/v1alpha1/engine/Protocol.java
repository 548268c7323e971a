// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.Locale;

/** A way to move bytes between a client and a storage node. */
public enum Protocol {
    /** Shared memory, for clients on the same machine. */
    @JsonProperty("shm")
    SHM,
    /** Ascend NPUs, by CANN; what has no NPU goes by tcp, where that is a protocol too. */
    @JsonProperty("ascend")
    ASCEND,
    /** UCX, which is RDMA where there is a card for it; what it cannot move goes by tcp. */
    @JsonProperty("ucx")
    UCX,
    /** TCP, for every client. */
    @JsonProperty("tcp")
    TCP;

    /** As custom resources, command lines and the environment of clients have it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether it goes by network cards of its own and authenticates no peer, and so has no TLS. */
    public boolean isOfFabric() {
        return this == UCX || this == ASCEND;
    }
}
