// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.request;

import dev.kvpool.nativelib.Status;
import java.util.function.Consumer;

/** A removal of all objects of a group: one answer, when each of them has its own. */
final class GroupRemoval {
    private final Consumer<Status> answer;
    private int open;
    private Status failure = Status.OK;

    GroupRemoval(int objects, Consumer<Status> answer) {
        this.open = objects;
        this.answer = answer;
    }

    /** Somebody else may have removed it: it is gone, which was wanted. */
    void removed(Status result) {
        if (failure == Status.OK && result != Status.NOT_FOUND) {
            failure = result;
        }
        open--;
        if (open == 0) {
            answer.accept(failure);
        }
    }
}
