// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.apiserver;

import dev.kvpool.operator.master.MasterAnswer;
import dev.kvpool.operator.master.MasterClient;
import dev.kvpool.operator.master.MasterEndpoint;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Masters that answer what a test wrote down for them, and nothing otherwise. */
public final class ScriptedMasters implements MasterClient {
    private final Map<String, PoolReport> reports = new ConcurrentHashMap<>();

    private volatile Consumer<Set<String>> asked = pods -> {};

    private volatile Consumer<String> handOver = address -> {};

    private volatile Consumer<PoolReport.Active> finalised = versions -> {};
    private volatile Consumer<String> drained = node -> {};
    private volatile Consumer<String> cancelled = node -> {};

    private final List<String> goneLeaders = new CopyOnWriteArrayList<>();

    private final AtomicLong questions = new AtomicLong();

    private final Map<String, Long> questionsByPod = new ConcurrentHashMap<>();

    /** How often the operator asked. */
    public long questions() {
        return questions.get();
    }

    /** The same by the pod that was asked. */
    public Map<String, Long> questionsByPod() {
        return Map.copyOf(questionsByPod);
    }

    /** From now on the master in this pod says this. */
    public void say(String pod, PoolReport report) {
        reports.put(pod, report);
    }

    /** From now on the master in this pod does not answer. */
    public void silence(String pod) {
        reports.remove(pod);
    }

    @Override
    public Map<String, MasterAnswer> ask(Map<String, MasterEndpoint> addresses) {
        questions.incrementAndGet();
        asked.accept(addresses.keySet());
        addresses.keySet().forEach(pod -> questionsByPod.merge(pod, 1L, Long::sum));
        Map<String, MasterAnswer> answers = new LinkedHashMap<>();
        addresses.keySet().forEach(pod -> {
            PoolReport report = reports.get(pod);
            answers.put(
                    pod,
                    report == null
                            ? new MasterAnswer.Silent("the test told it to be silent")
                            : new MasterAnswer.Report(report));
        });
        return answers;
    }

    /** From now on this is done, with the names of the pods that are asked, before any question is answered. */
    public void onQuestion(Consumer<Set<String>> deed) {
        asked = deed;
    }

    /** From now on a leader that is told to hand over does this with its address. */
    public void onHandOver(Consumer<String> deed) {
        handOver = deed;
    }

    @Override
    public Optional<String> handOver(MasterEndpoint address) {
        handOver.accept(address.host());
        return Optional.empty();
    }

    @Override
    public void leaderGone(List<MasterEndpoint> addresses, String holder, long epoch, String leader) {
        addresses.forEach(address ->
                goneLeaders.add("%s is told: %s in epoch %d at %s".formatted(address.host(), holder, epoch, leader)));
    }

    /** Who was told of a leader that has ended, and what. */
    public List<String> goneLeaders() {
        return List.copyOf(goneLeaders);
    }

    @Override
    public Optional<String> finalise(MasterEndpoint address, int wire, int layout, boolean ignoreClients) {
        finalised.accept(new PoolReport.Active(wire, layout));
        return Optional.empty();
    }

    /** From now on a leader that is told to change to other versions does this with them. */
    public void onFinalise(Consumer<PoolReport.Active> deed) {
        finalised = deed;
    }

    @Override
    public Optional<String> drain(MasterEndpoint address, String node, Duration timeout) {
        drained.accept(node);
        return Optional.empty();
    }

    @Override
    public Optional<String> clear(MasterEndpoint address, String node, Duration timeout) {
        return drain(address, node, timeout);
    }

    @Override
    public Optional<String> cancelDrain(MasterEndpoint address, String node) {
        cancelled.accept(node);
        return Optional.empty();
    }

    /** From now on a leader that is told to empty a storage node, or to take it back, does this with its id. */
    public void onDrain(Consumer<String> begin, Consumer<String> cancel) {
        drained = begin;
        cancelled = cancel;
    }

    /** A leader's report with the given storage nodes, all ready and each with all objects. */
    public static PoolReport leader(String pod, long epoch, long usedBytes, List<String> nodes) {
        return Reports.leader(
                        pod,
                        epoch,
                        nodes.stream().map(id -> ready(id, usedBytes)).toList())
                .with("capacityBytes", nodes.size() * (1L << 30))
                .with("sharedCapacityBytes", nodes.size() * (1L << 30))
                .with("usedBytes", usedBytes)
                .with("objects", usedBytes >> 20)
                .build();
    }

    /** A standby's report. */
    public static PoolReport standby(String pod, long epoch) {
        return standby(pod, epoch, List.of());
    }

    /** A standby's report with storage nodes as given. */
    public static PoolReport standby(String pod, long epoch, List<PoolReport.Node> nodes) {
        return Reports.standby(pod, epoch, nodes).build();
    }

    /** A leader's report with storage nodes as given. */
    public static PoolReport leading(String pod, long epoch, List<PoolReport.Node> nodes) {
        return Reports.leader(pod, epoch, nodes).build();
    }

    private static PoolReport.Node ready(String id, long usedBytes) {
        return Reports.node(id, "ready")
                .with("usedBytes", usedBytes)
                .with("objects", usedBytes >> 20)
                .with("protocols", List.of("shm", "tcp"))
                .build();
    }
}
