// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** The last change of leaders, as the master says that leads since. It changes with the next one only. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record FailoverStatus(
        @JsonPropertyDescription("Number of the leadership that began with it.") @Required
        Long epoch,

        @JsonPropertyDescription("When the Lease was taken.") @Size(max = 32)
        String at,

        @JsonPropertyDescription("Master that led before. Absent when its successor has not seen it lead.")
        @Size(max = 253)
        String from,

        @JsonPropertyDescription("Master that leads since.") @Required @Size(max = 253)
        String to,

        @JsonPropertyDescription("Why.") @Required @NullWhenUnknown
        FailoverCause cause,

        @JsonPropertyDescription(
                "Time without a leader, from when the successor learnt of it until it served; under LeaseExpired,"
                        + " from the last sign of life it saw.")
        @Size(max = 16)
        String duration) {}
