// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import dev.kvpool.api.v1alpha1.storage.RollMode;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** An upgrade: all the operator knows of it, so that another operator can go on with it. */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record RollStatus(
        @JsonPropertyDescription("The image the pool is upgraded to.") @Required @Size(max = 512)
        String image,

        @JsonPropertyDescription("The image the pool ran before, and goes back to when a step fails.")
        @Required
        @Size(max = 512)
        String from,

        @JsonPropertyDescription("How far it is.") @Required @NullWhenUnknown
        RollPhase phase,

        @JsonPropertyDescription(
                "What becomes of the objects of storage nodes. Absent before the first answer of a preflight.")
        @NullWhenUnknown
        RollMode mode,

        @JsonPropertyDescription("When the phase began.") @Required @Size(max = 32)
        String since,

        @JsonPropertyDescription("Why it is blocked, failed or goes back.") @Size(max = 4096)
        String reason,

        @JsonPropertyDescription(
                "The image masters go back to where that is another one than from: the one they took because none of them ran with"
                        + " from. Absent: from.")
        @Size(max = 512)
        String mastersFrom,

        @JsonPropertyDescription(
                "Annotation kvpool.dev/retry when the upgrade last began. Another text has it tried again once it has failed or is"
                        + " blocked.")
        @Size(max = 64)
        String retry) {

    private static final int REASON_LENGTH_MAX = 4096;

    /** One for which there is no request to try again. */
    public RollStatus(
            String image,
            String from,
            RollPhase phase,
            RollMode mode,
            String since,
            String reason,
            String mastersFrom) {
        this(image, from, phase, mode, since, reason, mastersFrom, null);
    }

    /** What a newer version was doing, and this one does not know, is begun again by asking the new image. */
    public RollStatus {
        if (phase == null || (phase == RollPhase.ROLLING && mode == null)) {
            phase = RollPhase.PREFLIGHT;
        }
        reason =
                reason != null && reason.length() > REASON_LENGTH_MAX ? reason.substring(0, REASON_LENGTH_MAX) : reason;
    }

    /** The same upgrade in another phase. */
    public RollStatus in(RollPhase next, String now, String why) {
        return new RollStatus(image, from, next, mode, now, why, mastersFrom, retry);
    }

    /** The same upgrade, begun in earnest. */
    public RollStatus begun(RollMode how, String now) {
        return new RollStatus(image, from, RollPhase.ROLLING, how, now, null, mastersFrom, retry);
    }

    /** The same upgrade, whose masters go back to another image than its storage nodes do, or to the same for null. */
    public RollStatus withMastersFrom(String other) {
        return new RollStatus(image, from, phase, mode, since, reason, other, retry);
    }

    /** The same upgrade, begun when the annotation said so; null for no annotation. */
    public RollStatus asked(String text) {
        return new RollStatus(image, from, phase, mode, since, reason, mastersFrom, text);
    }

    /** What masters go back to. */
    public String wayBackOfMasters() {
        return mastersFrom == null ? from : mastersFrom;
    }
}
