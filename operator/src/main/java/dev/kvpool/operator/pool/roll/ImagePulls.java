// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.roll;

import dev.kvpool.operator.pool.naming.NameList;
import dev.kvpool.operator.pool.observation.ImagePull;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Brings the new image to every Kubernetes node that needs it before the first container is stopped: a kubelet ends a container
 * whose image has changed before it pulls the other one, so that each step would last as long as a pull, and an image that a node
 * cannot get would be noticed when there is nothing left to go on with. Pure.
 */
final class ImagePulls {
    /** Pulls at a time, for the registry's sake. */
    static final int AT_ONCE = 32;

    private final RollView view;
    private final List<String> machines;
    private final Map<String, ImagePull> seen = new HashMap<>();

    ImagePulls(RollView view, String image) {
        this.view = view;
        this.machines = view.pulls().machines();
        view.pulls().jobs().stream()
                .filter(pull -> pull.image().equals(image))
                .forEach(pull -> seen.put(pull.node(), pull));
    }

    /** Nodes that shall have a Job, those whose Job has ended included. */
    List<String> nodes() {
        List<String> nodes = new ArrayList<>();
        int open = 0;
        for (String node : machines) {
            boolean ended = isOver(node);
            if (ended || open < AT_ONCE) {
                nodes.add(node);
                open += ended ? 0 : 1;
            }
        }
        return nodes;
    }

    /** Whether every node has the image, or had its time to get it. */
    boolean areOver() {
        return machines.stream().allMatch(this::isOver);
    }

    /** Why the upgrade must not begin, as the end of a sentence: an image that cannot be had. */
    Optional<String> refusal() {
        return machines.stream()
                .map(seen::get)
                .filter(pull -> pull != null && pull.state() == ImagePull.State.REFUSED && isOverdue(pull))
                .findFirst()
                .map(pull -> "node %s cannot get its image: %s".formatted(pull.node(), pull.trouble()));
    }

    /** What is waited for, as the end of a sentence. */
    String sentence() {
        List<String> waiting = machines.stream().filter(node -> !isOver(node)).toList();
        String trouble = waiting.stream()
                .map(seen::get)
                .filter(pull -> pull != null && !pull.trouble().isEmpty())
                .findFirst()
                .map(pull -> "; on %s it %s".formatted(pull.node(), pull.trouble()))
                .orElse("");
        return "its image is on each Kubernetes node, which it is not yet on %s%s"
                .formatted(NameList.of(waiting), trouble);
    }

    /** A pod that cannot run on a node for another reason than its image keeps no upgrade waiting. */
    private boolean isOver(String node) {
        ImagePull pull = seen.get(node);
        return pull != null
                && switch (pull.state()) {
                    case DONE, FAILED -> true;
                    case RUNNING -> isOverdue(pull);
                    case REFUSED -> false;
                };
    }

    private boolean isOverdue(ImagePull pull) {
        return view.isOverdue(pull.since().toString());
    }
}
