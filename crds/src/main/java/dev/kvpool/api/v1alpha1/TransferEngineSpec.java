// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonClassDescription;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.engine.AcceleratorSpec;
import dev.kvpool.api.v1alpha1.engine.AgentsSpec;
import dev.kvpool.api.v1alpha1.engine.IpFamily;
import dev.kvpool.api.v1alpha1.engine.MemorySpec;
import dev.kvpool.api.v1alpha1.engine.PortsSpec;
import dev.kvpool.api.v1alpha1.engine.Protocol;
import dev.kvpool.api.v1alpha1.engine.RdmaSpec;
import dev.kvpool.api.v1alpha1.engine.RetrySpec;
import dev.kvpool.api.v1alpha1.engine.TimeoutsSpec;
import dev.kvpool.api.v1alpha1.rule.DurationRule;
import dev.kvpool.api.v1alpha1.rule.PathRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;
import java.util.List;
import java.util.Optional;

/** Settings of a transfer engine. A pool that names no engine runs with the defaults. */
@JsonClassDescription("Settings of the transfer engine. A pool that names none runs with the defaults.")
@JsonInclude(JsonInclude.Include.NON_EMPTY)
@ValidationRule(
        value = "!has(self.ports.count) || self.hostNetwork",
        message = "ports.count is for hostNetwork: without it each storage node has an address of its own and uses"
                + " ports.base")
@ValidationRule(
        value = "!has(self.socketDirectory) || 'shm' in self.protocols",
        message = "socketDirectory is for shm: add that to protocols, or leave socketDirectory out")
@ValidationRule(
        value = "![self.timeouts.connect, self.retry.deadline].all(t, " + DurationRule.FORMAT_OF_T + ")"
                + " || duration(self.timeouts.connect) <= duration(self.retry.deadline)",
        message = "retry.deadline must not be shorter than timeouts.connect: it covers all attempts")
@ValidationRule(
        value = "!has(self.rdma) || 'ucx' in self.protocols",
        message = "rdma is for ucx: add that to protocols, or leave rdma out")
@ValidationRule(
        value = "!self.trustedFabric || 'ucx' in self.protocols || 'ascend' in self.protocols",
        message = "trustedFabric is for ucx and ascend: add one to protocols, or leave trustedFabric out")
@ValidationRule(
        value = "!('ascend' in self.protocols) || has(self.accelerator)",
        message = "protocol ascend needs accelerator: say there which chip it is")
@ValidationRule(
        value = "!has(self.accelerator) || 'ascend' in self.protocols",
        message = "accelerator is for ascend, and storage pods would hold NPUs that they never open: add ascend to"
                + " protocols, or leave accelerator out")
@ValidationRule(
        value = "!has(self.agents) || 'tcp' in self.protocols",
        message = "agents open no NPUs and reach other machines by tcp only: add tcp to protocols, or leave agents out")
@ValidationRule(
        value = "!has(self.accelerator)"
                + " || self.accelerator.transfer.basePort + 1600 <= self.ports.base"
                + " || self.ports.base + (has(self.ports.count) ? self.ports.count : self.hostNetwork ? 32 : 1)"
                + " <= self.accelerator.transfer.basePort",
        message =
                "ports and the 1600 ports from accelerator.transfer.basePort on overlap: change ports.base or basePort")
public record TransferEngineSpec(
        @JsonPropertyDescription(
                "Protocols the storage nodes offer and clients ask for, best first. shm: for clients on the same machine, in"
                        + " pods that mount the pool's directory of sockets; offered only with socketDirectory. ascend:"
                        + " between Ascend NPUs, by CANN, which the image must hold; needs accelerator. ucx: between machines,"
                        + " by RDMA where there is a card for it; it authenticates no peer, so only for"
                        + " networks whose hosts are trusted, needs libucp in the image, and ports that NetworkPolicies"
                        + " leave open or hostNetwork. tcp: everywhere, and what the others cannot serve; without it, beside"
                        + " ascend, storage nodes and clients without an NPU or CANN do not start.")
        @Default("[\"shm\", \"tcp\"]")
        @Size(min = 1, max = 3)
        @ValidationRule(
                value = "'tcp' in self || 'ascend' in self",
                message = "protocols must contain tcp or ascend: the others do not reach clients on other machines by"
                        + " themselves")
        @ValidationRule(
                value = "self.all(p, self.exists_one(q, q == p))",
                message = "protocols must name each protocol once")
        @ValidationRule(
                value = "!('ascend' in self && 'ucx' in self)",
                message =
                        "ascend and ucx exclude each other: they use different network cards, and neither reaches memory that the"
                                + " other registered. Use one of them")
        List<Protocol> protocols,

        @JsonPropertyDescription(
                "IP families of the pool's Services, first choice first. Default: what the cluster gives.")
        @Size(max = 2)
        @ValidationRule(
                value = "self.all(f, self.exists_one(g, g == f))",
                message = "ipFamilies must name each family once")
        List<IpFamily> ipFamilies,

        @JsonPropertyDescription(
                "True: storage pods use the network of their node, for example to reach its RDMA or accelerator network."
                        + " Each storage set gets ports of its own from `ports`. The namespace must admit pods on the"
                        + " host's network.")
        @Default("false")
        Boolean hostNetwork,

        @JsonPropertyDescription("Ports of the storage nodes.") @Default("{}")
        PortsSpec ports,

        @JsonPropertyDescription("How long single steps may take, for storage nodes and clients.") @Default("{}")
        TimeoutsSpec timeouts,

        @JsonPropertyDescription("How long clients try again.") @Default("{}")
        RetrySpec retry,

        @JsonPropertyDescription("Memory of the segments.") @Default("{}")
        MemorySpec memory,

        @JsonPropertyDescription("Ascend NPUs for protocol ascend. Default: none.")
        AcceleratorSpec accelerator,

        @JsonPropertyDescription(
                "RDMA cards for protocol ucx: storage pods and agents request them of a device plugin, and may lock memory, which"
                        + " registering it with a card does. Only namespaces of pod security level privileged admit such pods."
                        + " Default: none, and ucx finds what a pod without devices can use.")
        RdmaSpec rdma,

        @JsonPropertyDescription(
                "True: every host on the network of the RDMA cards or NPUs is trusted. ucx and ascend authenticate no peer and"
                        + " encrypt nothing, so pools that require TLS (security.mode Required) are refused with them unless this"
                        + " says so; engines get KVPOOL_TRUSTED_FABRIC with it.")
        @Default("false")
        Boolean trustedFabric,

        @JsonPropertyDescription(
                "Agents of the pools that name this engine, one on each node: engines there then share the agent's"
                        + " connections through its socket (setup_dummy). {}: with the defaults. Default: none.")
        AgentsSpec agents,

        @JsonPropertyDescription(
                "Directory of the nodes, for example /run/kvpool. Each pool has one of its own in it, NAMESPACE.POOL, with the"
                        + " sockets by which its storage nodes share memory (protocol shm); agents have it mounted, and pods of"
                        + " engines mount it as hostPath at the same place. It never holds a segment. Only namespaces of pod"
                        + " security level privileged admit such pods. Default: none, and pods move bytes by the other"
                        + " protocols.")
        @ValidationRule(value = PathRule.FORMAT, message = PathRule.MESSAGE)
        @Size(max = 80)
        String socketDirectory) {

    /** What a pool without a transfer engine runs with. */
    public static final TransferEngineSpec DEFAULTS =
            new TransferEngineSpec(null, null, null, null, null, null, null, null, null, null, null, null);

    public TransferEngineSpec {
        protocols = protocols == null ? List.of(Protocol.SHM, Protocol.TCP) : List.copyOf(protocols);
        ipFamilies = ipFamilies == null ? List.of() : List.copyOf(ipFamilies);
        hostNetwork = hostNetwork != null && hostNetwork;
        ports = ports == null ? new PortsSpec(null, null) : ports;
        timeouts = timeouts == null ? new TimeoutsSpec(null, null) : timeouts;
        retry = retry == null ? new RetrySpec(null) : retry;
        memory = memory == null ? new MemorySpec(null) : memory;
        trustedFabric = trustedFabric != null && trustedFabric;
    }

    /** The protocols that storage nodes can serve in pods: memory is shared by sockets, which other pods must see. */
    public List<Protocol> protocolsOfNodes() {
        return protocols.stream()
                .filter(protocol -> protocol != Protocol.SHM || socketDirectory != null)
                .toList();
    }

    /** The one of its protocols that has no TLS; the schema admits one. */
    public Optional<Protocol> fabric() {
        return protocols.stream().filter(Protocol::isOfFabric).findFirst();
    }
}
