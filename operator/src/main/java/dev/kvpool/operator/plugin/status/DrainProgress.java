// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.status;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.api.v1alpha1.status.StepKind;
import dev.kvpool.api.v1alpha1.status.StepState;
import dev.kvpool.api.v1alpha1.status.StepStatus;
import java.time.Instant;
import java.util.Optional;

/**
 * How far the operator is with a storage node that is to be empty, as the status of the pool says. Pure.
 *
 * @param step what is done about it; empty while nothing is
 */
public record DrainProgress(Optional<StepStatus> step) {
    /**
     * Reads it.
     *
     * @param made when the node's pod was made: that an earlier one was empty says nothing
     */
    public static DrainProgress of(KvCachePool pool, String node, Instant made) {
        return new DrainProgress(
                pool.getStatus() == null
                        ? Optional.empty()
                        : pool.getStatus().steps().stream()
                                .filter(step -> step.of().equals(node) && step.kind() != StepKind.TAKE_BACK)
                                .filter(step -> step.state() != StepState.EMPTY || !at(step).isBefore(made))
                                .findFirst());
    }

    /** Of its last progress. */
    private static Instant at(StepStatus step) {
        return Instant.parse(
                step.progress() == null ? step.since() : step.progress().at());
    }

    public boolean isEmpty() {
        return step.filter(it -> it.state() == StepState.EMPTY && it.because().isOfPlace())
                .isPresent();
    }

    /** In words. */
    public String sentence() {
        return step.map(DrainProgress::sentence).orElse("the operator has not begun");
    }

    private static String sentence(StepStatus step) {
        String why = step.waitsFor() == null ? "" : ": " + step.waitsFor();
        if (step.kind() != StepKind.EMPTY) {
            return "something else is done with %s first (%s, because of %s)%s"
                    .formatted(step.of(), step.kind(), step.because(), why);
        }
        return switch (step.state()) {
            case WAITING, FAILED -> "%s waits%s".formatted(step.of(), why);
            case UNDER_WAY -> "%s is being emptied%s%s".formatted(step.of(), left(step), why);
            case LEFTOVERS ->
                "%s could not be emptied in time and is tried again%s%s".formatted(step.of(), left(step), why);
            case EMPTY -> "%s is empty".formatted(step.of());
            case KEPT -> "%s may be evicted with its volume".formatted(step.of());
            case DROPPED -> "%s may be evicted as it is%s".formatted(step.of(), left(step));
        };
    }

    private static String left(StepStatus step) {
        return step.objectsLeft() == null
                ? ""
                : ", %d objects%s have no other place"
                        .formatted(step.objectsLeft(), step.bytesLeft() == null ? "" : " of about " + step.bytesLeft());
    }

    /** Whether something has happened between two looks. */
    public boolean isFurtherThan(DrainProgress before) {
        return !step.map(it -> it.in(it.state(), null)).equals(before.step.map(it -> it.in(it.state(), null)));
    }
}
