// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.api.v1alpha1;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Required;
import io.fabric8.generator.annotation.Size;

/** A step of an upgrade that is under way, with what must differ when it is done. */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record RollStepStatus(
        @JsonPropertyDescription("The pod it is about.") @Required @Size(max = 253)
        String pod,

        @JsonPropertyDescription(
                "Id of the storage node it is about, whose pod may have another name by the end. None for a master.")
        @Size(max = StorageSetSpec.NODE_ID_LENGTH_MAX)
        String node,

        @JsonPropertyDescription("What is done.") @Required RollStepKind kind,

        @JsonPropertyDescription("When it began, or last made progress.") @Required @Size(max = 32)
        String since,

        @JsonPropertyDescription("UID of the pod then.") @Size(max = 64)
        String uid,

        @JsonPropertyDescription("How often its container had been started anew then.")
        Integer restarts,

        @JsonPropertyDescription("The storage node's process then.") @Size(max = 16)
        String incarnation,

        @JsonPropertyDescription(
                "Objects the storage node held then; of one that is emptied those that were left at its last progress.")
        Long objects,

        @JsonPropertyDescription("Order-free hash of the ids of those objects.") @Size(max = 16)
        String idsHash,

        @JsonPropertyDescription(
                "Epoch of the leadership that is handed over, or of the leader that is told that the storage node takes part again.")
        Long epoch,

        @JsonPropertyDescription(
                "What its container ran then, as the kubelet names it. Empty when nothing had run there.")
        @Size(max = 512)
        String image,

        @JsonPropertyDescription(
                "What its container was asked to run then, as admission had written it. Where that stays the same no kubelet starts"
                        + " anything.")
        @Size(max = 512)
        String specImage,

        @JsonPropertyDescription(
                "True when the node of the cluster was lost meanwhile, so that the storage node takes part again, and goes over when it"
                        + " is back.")
        Boolean leftOut) {

    private static final int IMAGE_LENGTH_MAX = 512;

    public RollStepStatus {
        image = bounded(image);
        specImage = bounded(specImage);
    }

    private static String bounded(String text) {
        return text != null && text.length() > IMAGE_LENGTH_MAX ? text.substring(0, IMAGE_LENGTH_MAX) : text;
    }

    /** The same step, begun anew at another time. */
    public RollStepStatus from(String now) {
        return new RollStepStatus(
                pod, node, kind, now, uid, restarts, incarnation, objects, idsHash, epoch, image, specImage, leftOut);
    }

    /** The same step, which empties a storage node and has moved something: so many objects are left; null while nobody can tell. */
    public RollStepStatus progressed(String now, Long left) {
        return new RollStepStatus(
                pod, node, kind, now, uid, restarts, incarnation, left, idsHash, epoch, image, specImage, leftOut);
    }

    /** The same step, from now on about what the leader of that epoch is told; of none for null. */
    public RollStepStatus told(Long byEpoch, String now) {
        return new RollStepStatus(
                pod, node, kind, now, uid, restarts, incarnation, objects, idsHash, byEpoch, image, specImage, leftOut);
    }

    /** The same step, about another pod in the place of the one it began with. */
    public RollStepStatus about(
            String otherPod, String otherUid, int itsRestarts, String itsImage, String itsSpecImage) {
        return new RollStepStatus(
                otherPod,
                node,
                kind,
                since,
                otherUid,
                itsRestarts,
                incarnation,
                objects,
                idsHash,
                epoch,
                itsImage,
                itsSpecImage,
                leftOut);
    }

    /** The same step, given up from now on. */
    public RollStepStatus givenUp(String now) {
        return new RollStepStatus(
                pod, node, kind, now, uid, restarts, incarnation, objects, idsHash, epoch, image, specImage, true);
    }

    /** Whether it was given up, as its node of the cluster was lost. */
    @JsonIgnore
    public boolean isGivenUp() {
        return Boolean.TRUE.equals(leftOut);
    }
}
