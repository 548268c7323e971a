// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.command;

import dev.kvpool.api.v1alpha1.KvCachePool;
import dev.kvpool.operator.plugin.cluster.Cluster;
import dev.kvpool.operator.plugin.cluster.DrainRequests;
import dev.kvpool.operator.plugin.failure.PluginException;
import dev.kvpool.operator.plugin.status.DrainProgress;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code drain}: has the operator empty a storage node, or take it back. */
@Command(
        description = {
            "Has the operator move what only this storage node holds to others, and put nothing new on it until --cancel or until"
                    + " another pod is in its place. Waits until it is empty; the operator goes on when this command ends.",
            "Adds the node and the UID of its pod to the annotation kvpool.dev/drain of the KvCachePool."
        })
public final class DrainCommand extends PoolCommand {
    private static final int MINUTES_MAX = 24 * 60;
    private static final Duration LOOK = Duration.ofSeconds(1);

    @Parameters(index = "0", paramLabel = "POOL", description = "The pool.")
    private String pool;

    @Parameters(index = "1", paramLabel = "NODE", description = "Id of the storage node, as `status POOL` shows it.")
    private String node;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            defaultValue = "10",
            description = "Wait no longer once nothing has been moved for so long: 1 to 1440, 10 by default.")
    private int minutes;

    @Option(names = "--cancel", description = "Stop emptying; the node takes objects again.")
    private boolean cancel;

    @Override
    protected void run(Cluster on, PrintWriter out) throws InterruptedException {
        if (minutes < 1 || minutes > MINUTES_MAX) {
            throw new PluginException("--minutes must be 1 to %d, not %d".formatted(MINUTES_MAX, minutes));
        }
        KvCachePool found = on.pool(pool);
        DrainRequests requests = new DrainRequests(on, pool);
        if (cancel) {
            cancel(found, requests, out);
            return;
        }
        Map<String, ObjectMeta> pods = requests.pods();
        check(found, pods.keySet());
        ObjectMeta pod = pods.get(node);
        requests.add(node, pod.getUid());
        // What was said of the node before its pod was made is about an earlier one.
        await(on, requests, pod.getUid(), Instant.parse(pod.getCreationTimestamp()), out);
    }

    private void cancel(KvCachePool found, DrainRequests requests, PrintWriter out) {
        if (!requests.remove(node)) {
            throw new PluginException(
                    "no request asks for %s of pool %s to be empty; if its leader was told so past the operator, ask for it and then cancel"
                            .formatted(node, pool));
        }
        out.println("%s takes objects again, unless its Kubernetes node is cordoned or the spec removes it"
                .formatted(node));
        if (found.getSpec().paused()) {
            out.println("the pool is paused: not before `kubectl kvpool resume %s`".formatted(pool));
        }
    }

    private void check(KvCachePool found, Set<String> nodes) {
        if (!nodes.contains(node)) {
            throw new PluginException("pool %s has no storage node %s; it has: %s"
                    .formatted(pool, node, nodes.isEmpty() ? "none" : String.join(", ", nodes)));
        }
        if (nodes.size() == 1) {
            throw new PluginException(
                    "%s is the only storage node of pool %s: no other could take what it holds".formatted(node, pool));
        }
        if (found.getSpec().paused()) {
            throw new PluginException(
                    "pool %s is paused: nothing is emptied before `kubectl kvpool resume %s`".formatted(pool, pool));
        }
        if (found.getStatus() == null || found.getStatus().leader() == null) {
            throw new PluginException(
                    "no master of pool %s leads, and only a leader can have objects moved".formatted(pool));
        }
    }

    private void await(Cluster on, DrainRequests requests, String uid, Instant made, PrintWriter out)
            throws InterruptedException {
        DrainProgress before = null;
        String said = "";
        long movedNanos = System.nanoTime();
        while (true) {
            KvCachePool seen = on.pool(pool);
            DrainProgress now = DrainProgress.of(seen, node, made);
            if (!now.sentence().equals(said)) {
                said = now.sentence();
                out.println(said);
                out.flush();
            }
            if (now.isEmpty()) {
                out.println(
                        "it takes no objects until `kubectl kvpool drain %s %s --cancel`, or until another pod is in its place"
                                .formatted(pool, node));
                return;
            }
            if (!uid.equals(DrainRequests.of(seen).get(node))) {
                throw new PluginException("the request was taken back meanwhile");
            }
            if (now.step().isEmpty() && !requests.isIn(node, uid)) {
                throw new PluginException(
                        "the pod of %s is gone, and the request with it; the next pod takes objects".formatted(node));
            }
            if (before == null || now.isFurtherThan(before)) {
                movedNanos = System.nanoTime();
            }
            before = now;
            if (System.nanoTime() - movedNanos > Duration.ofMinutes(minutes).toNanos()) {
                throw new PluginException(
                        "nothing was moved for %d min: %s. The operator goes on; `kubectl kvpool drain %s %s --cancel` stops it"
                                .formatted(minutes, said, pool, node));
            }
            Thread.sleep(LOOK);
        }
    }
}
