// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.Sizes;
import dev.kvpool.dataplane.machine.MemoryRoom;

/** Judges the place of an SSD tier. Pure. */
final class SsdChecks {
    private static final String SUBJECT = "ssd";

    private SsdChecks() {}

    /** @param bytes what is to fit there; 0 when unknown */
    static CheckResult judge(SsdPlace place, long bytes) {
        return switch (place.kind()) {
            case NOTHING ->
                CheckResult.problem(
                        SUBJECT, place.path() + " is not there", "create the directory, or name another by --ssd-path");
            case SOMETHING_ELSE ->
                CheckResult.problem(
                        SUBJECT,
                        place.path() + " is neither a directory nor a block device",
                        "name a directory on the SSD, or the device itself, by --ssd-path");
            case BLOCK_DEVICE ->
                place.isWritable()
                        ? CheckResult.ok(SUBJECT, place.path() + " is a block device, which a node uses as a whole")
                        : notWritable(place);
            case DIRECTORY -> place.isWritable() ? directory(place, bytes) : notWritable(place);
        };
    }

    private static CheckResult notWritable(SsdPlace place) {
        return CheckResult.problem(
                SUBJECT,
                place.path() + " cannot be written by this user",
                "give it to the user that kvpool runs as; in a pod by securityContext.fsGroup");
    }

    private static CheckResult directory(SsdPlace place, long bytes) {
        if (place.room().isEmpty()) {
            return CheckResult.warning(
                    SUBJECT, "the file system at " + place.path() + " cannot be read", "look at its mount");
        }
        MemoryRoom room = place.room().get();
        if (room.inMemory()) {
            return CheckResult.warning(
                    SUBJECT,
                    place.path() + " is in memory, where a tier saves none",
                    "name a directory on an SSD by --ssd-path");
        }
        return room.problem(bytes, "an SSD tier in " + place.path())
                .map(sentence -> CheckResult.problem(
                        SUBJECT, sentence, "make the tier smaller (--ssd-size), or delete what else is there"))
                .orElseGet(() -> CheckResult.ok(SUBJECT, place.path() + " has room for " + Sizes.about(room.bytes())));
    }
}
