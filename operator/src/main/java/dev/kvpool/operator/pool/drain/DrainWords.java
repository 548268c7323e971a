// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.drain;

import dev.kvpool.api.v1alpha1.DrainPhase;
import dev.kvpool.api.v1alpha1.DrainStatus;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.pool.naming.ByteAmount;
import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.naming.Rounding;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import io.fabric8.kubernetes.api.model.Quantity;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Says how far storage nodes are that are to go, to be made anew or lie on cordoned nodes of the cluster, in numbers that stay the same while little changes. */
final class DrainWords {
    private static final int REASON_CHARS_MAX = 200;

    private final DrainView view;

    DrainWords(DrainView view) {
        this.view = view;
    }

    /**
     * What condition Draining says.
     *
     * @param waiting ids of nodes that are to go and are not begun to be emptied
     * @param obstacle why not, as a part of a sentence
     */
    Finding finding(List<DrainStatus> drains, List<String> waiting, String obstacle) {
        List<DrainStatus> left = in(drains, DrainPhase.LEFTOVERS);
        if (!left.isEmpty()) {
            return new Finding(Reason.LEFTOVERS, "%s. %s; it is tried again.".formatted(list(left), wayOut(left)));
        }
        List<DrainStatus> leaving = in(drains, DrainPhase.EMPTYING);
        in(drains, DrainPhase.EMPTY, DrainPhase.DROPPED).stream()
                .filter(drain -> drain.cordonedNode() == null)
                .forEach(leaving::add);
        if (!leaving.isEmpty()) {
            return new Finding(Reason.EMPTYING, "%s.".formatted(list(leaving)));
        }
        List<DrainStatus> held = in(drains, DrainPhase.WAITING);
        if (!held.isEmpty()) {
            String limit = onCordoned(held).isEmpty()
                    ? ""
                    : " After spec.drain.nodeTimeout a pod may be evicted all the same.";
            return new Finding(Reason.DRAIN_WAITS, "%s.%s".formatted(list(held), limit));
        }
        if (!waiting.isEmpty()) {
            return new Finding(
                    Reason.DRAIN_WAITS, "%s is to be emptied and waits: %s.".formatted(NameList.of(waiting), obstacle));
        }
        List<DrainStatus> done = in(drains, DrainPhase.EMPTY, DrainPhase.DROPPED, DrainPhase.KEPT);
        if (!done.isEmpty()) {
            return new Finding(Reason.MAY_BE_EVICTED, "%s.".formatted(list(done)));
        }
        return drains.isEmpty()
                ? new Finding(Reason.NO_DRAIN, "No storage node is to go.")
                : new Finding(Reason.DRAIN_CANCELLED, "%s.".formatted(list(drains)));
    }

    /** What people can do about leftovers. */
    private String wayOut(List<DrainStatus> left) {
        List<String> ways = new ArrayList<>(List.of("Make room"));
        if (onCordoned(left).size() < left.size()) {
            ways.add("set spec.drain.onLeftovers to Drop");
            ways.add("or take the change back");
        } else {
            ways.add(left.stream()
                    .map(this::taint)
                    .filter(taint -> !taint.isEmpty())
                    .findFirst()
                    .map("remove taint %s from the node"::formatted)
                    .orElse("uncordon the node"));
            ways.add("or wait for spec.drain.nodeTimeout, after which the pod may be evicted with what is left");
        }
        return String.join(", ", ways);
    }

    private static List<DrainStatus> onCordoned(List<DrainStatus> drains) {
        return drains.stream().filter(drain -> drain.cordonedNode() != null).toList();
    }

    static Long rounded(long objects) {
        return Rounding.twoDigits(objects);
    }

    static Optional<Quantity> bytes(PoolReport.Node node) {
        return node.leftovers().isEmpty()
                ? Optional.empty()
                : Optional.of(ByteAmount.coarse(node.leftovers().stream()
                        .mapToLong(PoolReport.Leftover::bytes)
                        .sum()));
    }

    /** Why a node is not empty; nothing while it simply takes its time. Short: there is one for each node that is to go. */
    static Optional<String> reason(boolean led, Optional<PoolReport.Node> node) {
        return wholeReason(led, node)
                .map(why -> why.length() <= REASON_CHARS_MAX ? why : why.substring(0, REASON_CHARS_MAX) + " ...");
    }

    private static Optional<String> wholeReason(boolean led, Optional<PoolReport.Node> node) {
        if (!led) {
            return Optional.of("no master leads and serves");
        }
        if (node.isEmpty()) {
            return Optional.of("the leader does not know it");
        }
        PoolReport.Node known = node.get();
        if (known.ready() || known.draining() || known.drained()) {
            String why = known.leftovers().stream()
                    .map(PoolReport.Leftover::reason)
                    .filter(text -> !text.isEmpty())
                    .distinct()
                    .collect(Collectors.joining("; "));
            return why.isEmpty() ? Optional.empty() : Optional.of(why);
        }
        return Optional.of(
                "it is " + known.state() + held(known) + (known.reason().isEmpty() ? "" : ", " + known.reason()));
    }

    /** Nobody counts what only it has before it is being emptied. */
    private static String held(PoolReport.Node away) {
        return away.objects() == 0
                ? ""
                : " with %d objects of about %s, of which others may have copies"
                        .formatted(rounded(away.objects()), ByteAmount.coarse(away.usedBytes()));
    }

    private static List<DrainStatus> in(List<DrainStatus> drains, DrainPhase... phases) {
        return drains.stream()
                .filter(drain -> List.of(phases).contains(drain.phase()))
                .collect(Collectors.toCollection(ArrayList::new));
    }

    private String list(List<DrainStatus> drains) {
        return NameList.of(drains.stream().map(this::one).toList());
    }

    private String one(DrainStatus drain) {
        String why = drain.reason() == null ? "" : ": " + drain.reason();
        if (drain.cordonedNode() != null) {
            return drain.node() + onCordoned(drain, why);
        }
        return drain.node() + (Drains.comesBack(drain) ? comingBack(drain, why) : going(drain, why));
    }

    private static String going(DrainStatus drain, String why) {
        return switch (drain.phase()) {
            case EMPTYING, WAITING, KEPT -> " is being emptied%s%s".formatted(left(drain), why);
            case LEFTOVERS -> " could not be emptied in time%s%s".formatted(left(drain), why);
            case EMPTY -> " is empty and goes";
            case DROPPED -> " goes as it is%s".formatted(left(drain));
            case CANCELLED, BACK -> " stays and takes part again";
        };
    }

    private static String comingBack(DrainStatus drain, String why) {
        return switch (drain.phase()) {
            case WAITING -> " has earlier settings and waits%s".formatted(why);
            case EMPTYING, KEPT -> " is being emptied to be made anew%s%s".formatted(left(drain), why);
            case LEFTOVERS -> " is to be made anew and could not be emptied in time%s%s".formatted(left(drain), why);
            case EMPTY -> " is empty and made anew";
            case DROPPED -> " is made anew as it is%s".formatted(left(drain));
            case CANCELLED -> " stays as it is and takes part again";
            case BACK -> " has been made anew and takes part again";
        };
    }

    private String taint(DrainStatus drain) {
        return view.departure(drain.node())
                .flatMap(Departure::cordon)
                .map(Cordon::taint)
                .orElse("");
    }

    private String onCordoned(DrainStatus drain, String why) {
        String host = drain.cordonedNode();
        String how = taint(drain).isEmpty() ? "is cordoned" : "has taint " + taint(drain);
        return switch (drain.phase()) {
            case WAITING -> " is on %s, which %s, and waits%s".formatted(host, how, why);
            case EMPTYING -> " is being emptied, because its node %s %s%s%s".formatted(host, how, left(drain), why);
            case LEFTOVERS ->
                " could not be emptied in time, and its node %s %s%s%s".formatted(host, how, left(drain), why);
            case EMPTY -> " is empty, and its pod may be evicted from %s".formatted(host);
            case DROPPED -> " may be evicted from %s as it is%s".formatted(host, left(drain));
            case KEPT -> " may be evicted from %s, as what it holds is on a volume that stays".formatted(host);
            case CANCELLED -> " stays on %s and takes part again".formatted(host);
            case BACK -> " has left %s and takes part again with its next pod".formatted(host);
        };
    }

    private static String left(DrainStatus drain) {
        if (drain.objectsLeft() == null) {
            return "";
        }
        String bytes = drain.bytesLeft() == null ? "" : " of about " + drain.bytesLeft();
        return ", %d objects%s have no other place".formatted(drain.objectsLeft(), bytes);
    }
}
