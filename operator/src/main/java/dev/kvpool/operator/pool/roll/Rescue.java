// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.api.v1alpha1.status.RollStatus;
import dev.kvpool.operator.pool.member.Member;
import dev.kvpool.operator.pool.transition.Action;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Remediation for a pool whose masters do not run, so that none can be asked about another image. Masters own nothing that lasts,
 * and storage nodes refuse those they do not understand: masters may take the image unasked, while storage nodes stay as they
 * are. Once one of them leads, the preflight is asked as always, before any storage node is touched.
 */
final class Rescue {
    private final RollView view;

    Rescue(RollView view) {
        this.view = view;
    }

    /** Whether no master is there that leads, or could. */
    boolean isNeeded() {
        return !view.members().led() && view.isAnyMaster(any -> true) && !view.isAnyMaster(Member::ready);
    }

    /** Once it is written down what masters go back to: not to what none of them ran with. */
    List<Action> actions(String image) {
        return taking(image, view.members().masters().stream());
    }

    /** Those that do not have it yet. */
    static List<Action> taking(String image, Stream<Member> members) {
        return members.filter(member -> !member.runs(image) && !member.leaving())
                .map(member -> Action.setImage(member, image))
                .toList();
    }

    /**
     * What an upgrade that begins now leaves of the image that masters took unasked: they go back to it when one leads with it, and
     * so is known to run.
     */
    RollStatus proven(RollStatus roll) {
        boolean leads =
                view.isAnyMaster(master -> view.members().leads(master.pod()) && master.runs(roll.wayBackOfMasters()));
        return leads ? roll : roll.withMastersFrom(null);
    }

    /** Masters that were recreated, for which the masters' set has the image that does not run, take the one that does. */
    List<Action> again(RollStatus roll) {
        return roll.mastersFrom() == null
                ? List.of()
                : taking(
                        roll.mastersFrom(),
                        view.members().masters().stream()
                                .filter(master -> master.runs(roll.from()) && !master.ready()));
    }

    /**
     * Which storage node a leader that took the image unasked does not see, so that its answer would say nothing of it; as a part of
     * a sentence.
     */
    Optional<String> unseen(String image) {
        if (!view.isAnyMaster(master -> master.runs(image))) {
            return Optional.empty();
        }
        return view.members().storage().stream()
                .filter(node ->
                        node.ready() && !node.isSeen(seen -> seen.build().version() != null))
                .map(Member::id)
                .findFirst();
    }
}
