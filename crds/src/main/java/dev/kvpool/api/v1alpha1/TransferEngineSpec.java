// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;

/** Settings of a transfer engine. A pool that names no engine runs with the defaults. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record TransferEngineSpec(
        @JsonPropertyDescription("Protocols the storage nodes offer, best first.")
        @Default("[\"shm\", \"tcp\"]")
        @Size(min = 1, max = 2)
        @ValidationRule(
                value = "'tcp' in self",
                message = "protocols must contain tcp: it is the one that reaches clients on other machines")
        @ValidationRule(
                value = "self.all(p, self.exists_one(q, q == p))",
                message = "protocols must name each protocol once")
        List<Protocol> protocols,

        @JsonPropertyDescription(
                "IP families of the pool's Services, first choice first. Default: what the cluster gives.")
        @Size(max = 2)
        @ValidationRule(
                value = "self.all(f, self.exists_one(g, g == f))",
                message = "ipFamilies must name each family once")
        List<IpFamily> ipFamilies,

        @JsonPropertyDescription("Ports of the storage nodes.") @Default("{}")
        PortsSpec ports,

        @JsonPropertyDescription("How long things may take.") @Default("{}")
        TimeoutsSpec timeouts,

        @JsonPropertyDescription("Memory of the segments.") @Default("{}")
        MemorySpec memory,

        @JsonPropertyDescription("Accelerator the storage nodes get. Default: none.")
        AcceleratorSpec accelerator) {

    /** What a pool without a transfer engine runs with. */
    public static final TransferEngineSpec DEFAULTS = new TransferEngineSpec(null, null, null, null, null, null);

    public TransferEngineSpec {
        protocols = protocols == null ? List.of(Protocol.SHM, Protocol.TCP) : List.copyOf(protocols);
        ipFamilies = ipFamilies == null ? List.of() : List.copyOf(ipFamilies);
        ports = ports == null ? new PortsSpec(null) : ports;
        timeouts = timeouts == null ? new TimeoutsSpec(null, null) : timeouts;
        memory = memory == null ? new MemorySpec(null) : memory;
    }
}
