// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.engine;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.rule.DurationRule;
import io.fabric8.generator.annotation.Default;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;
import io.fabric8.generator.annotation.Size;
import io.fabric8.generator.annotation.ValidationRule;

/** How NPUs move bytes. Storage nodes and engines of a pool go by the same settings. */
@JsonInclude(JsonInclude.Include.NON_NULL)
@ValidationRule(
        value = "!has(self.bufferPool) || !self.async",
        message = "bufferPool and async exclude each other: CANN's buffers are for synchronous transfers. Leave one of"
                + " them out")
@ValidationRule(
        value = "!has(self.bufferPool) || self.link != 'Fabric'",
        message =
                "bufferPool and link Fabric exclude each other: CANN does not start with both. Leave bufferPool out, or"
                        + " use link RoCE")
@ValidationRule(
        value = "!self.async || self.link != 'Fabric'",
        message = "async and link Fabric exclude each other: use link RoCE, or leave async out")
@ValidationRule(
        value = "self.link == 'RoCE' || (!has(self.trafficClass) && !has(self.serviceLevel))",
        message = "trafficClass and serviceLevel are for link RoCE: leave them out, or set that link")
public record AscendTransferSpec(
        @JsonPropertyDescription(
                "RoCE: network cards of the NPUs; the only link of chip A2. Fabric: the bus between NPUs of chip A3, with host"
                        + " memory mapped into them in pieces of 1Gi; needs driver (HDK) 26.0, CANN 9.0 and LingQu 1.5. HCCS: the"
                        + " same bus without that; it does not reach memory of hosts, in which segments are.")
        @Default("RoCE")
        AcceleratorLink link,

        @JsonPropertyDescription(
                "Longest time to open a connection between two NPUs, for example 3s. An object lease must be longer than"
                        + " this and transferTimeout together.")
        @Default(CONNECT_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "connectTimeout" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('1ms')"
                        + " && duration(self) <= duration('1h'))",
                message = "connectTimeout must be between 1ms and 1h")
        String connectTimeout,

        @JsonPropertyDescription(
                "Longest time of one transfer between NPUs, for example 5s. It must be longer than what HCCL_RDMA_TIMEOUT gives"
                        + " one attempt of a network card.")
        @Default(TRANSFER_DEFAULT)
        @Size(max = DurationRule.LENGTH_MAX)
        @ValidationRule(value = DurationRule.FORMAT, message = "transferTimeout" + DurationRule.MESSAGE)
        @ValidationRule(
                value = "!(" + DurationRule.FORMAT + ") || (duration(self) >= duration('1ms')"
                        + " && duration(self) <= duration('1h'))",
                message = "transferTimeout must be between 1ms and 1h")
        String transferTimeout,

        @JsonPropertyDescription(
                "True: transfers are submitted, and their ends asked for. Default: each is waited for.")
        @Default("false")
        Boolean async,

        @JsonPropertyDescription(
                "COUNT:MIB of device buffers through which CANN moves small pieces, for example 4:8; transfers then go one"
                        + " after the other. Default: none.")
        @Size(max = 16)
        @ValidationRule(
                value = "self.matches('^[1-9][0-9]{0,3}:[1-9][0-9]{0,5}$')",
                message = "bufferPool must be COUNT:MIB, for example 4:8; leave it out for none")
        String bufferPool,

        @JsonPropertyDescription(
                "First of the ports that NPUs listen on: an NPU has the hundred from this plus 100 times its physical number"
                        + " on, and 16 of them the 1600 from this on. Beyond the ports of clients, which end at 17000.")
        @Default("20000")
        @Min(BASE_PORT_MIN)
        @Max(65536 - PORTS)
        Integer basePort,

        @JsonPropertyDescription("Threads that transfer.") @Default("8") @Min(1) @Max(16)
        Integer threads,

        @JsonPropertyDescription("Traffic class of RoCE packets, a multiple of 4. Default: CANN's, 132.")
        @Min(0)
        @Max(252)
        @ValidationRule(value = "self % 4 == 0", message = "trafficClass must be a multiple of 4")
        Integer trafficClass,

        @JsonPropertyDescription("Service level of RoCE packets. Default: CANN's, 4.") @Min(0) @Max(7)
        Integer serviceLevel) {

    public static final String CONNECT_DEFAULT = "3s";
    public static final String TRANSFER_DEFAULT = "5s";

    /** Ports of the NPUs of a machine, from {@code basePort} on. */
    public static final int PORTS = 1600;

    private static final int BASE_PORT_DEFAULT = 20_000;
    private static final int BASE_PORT_MIN = 17_001;
    private static final int THREADS_DEFAULT = 8;

    public AscendTransferSpec {
        link = link == null ? AcceleratorLink.ROCE : link;
        connectTimeout = connectTimeout == null ? CONNECT_DEFAULT : connectTimeout;
        transferTimeout = transferTimeout == null ? TRANSFER_DEFAULT : transferTimeout;
        async = async != null && async;
        basePort = basePort == null ? BASE_PORT_DEFAULT : basePort;
        threads = threads == null ? THREADS_DEFAULT : threads;
    }
}
